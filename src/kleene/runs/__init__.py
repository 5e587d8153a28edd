"""Runs as records: one table of what was taught, which is filtered, grouped, pivoted, drawn and written."""
