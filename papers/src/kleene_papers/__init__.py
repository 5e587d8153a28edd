"""The tables and figures of the papers, by name, each with the paper's own numbers beside ours."""

__version__ = "0.2.0"
