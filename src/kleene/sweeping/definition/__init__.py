"""A sweep as a person writes it down, read into the settings of its cells."""
