"""Collections as people write them: TOML becomes the file that devices, collector and reviewer share."""
