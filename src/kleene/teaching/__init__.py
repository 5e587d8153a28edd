"""Teaching networks: losses with hints, and a loop that holds many seeds and many settings at once."""
