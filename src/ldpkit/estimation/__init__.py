"""The collector: a tally goes in, frequencies with error bars come out."""
