"""Which mechanism, split and epsilon keep most predictions of a classifier."""
