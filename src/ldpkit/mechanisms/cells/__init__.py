"""What mechanisms on an integer grid share, be it a line or a circle: cells, their law, and windows."""
