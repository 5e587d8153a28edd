"""The tables of stored runs of `kleene bench`."""
