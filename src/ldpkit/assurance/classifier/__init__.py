"""What a classifier is still worth when some of its inputs are privatized."""
