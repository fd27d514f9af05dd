"""Fuzzing: every parser of the package meets hostile input, built by mutators that know the format."""
