"""Hostile files and command lines, drawn by number; `python -m tests.fuzzing NUMBER…` tries some of them again."""
