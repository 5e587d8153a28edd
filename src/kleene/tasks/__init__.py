"""What programs and networks are tried on: published tasks with their data, and generators in plain Python."""
