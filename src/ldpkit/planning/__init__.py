"""Before collecting: which epsilon, protocol and method give the accuracy that is wanted."""
