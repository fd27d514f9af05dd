"""Does it hold: adversaries and audits that try to break the promise."""
