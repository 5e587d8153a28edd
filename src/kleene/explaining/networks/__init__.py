"""Trained networks beside the programs that taught them: decoded traces, and what linear probes read."""
