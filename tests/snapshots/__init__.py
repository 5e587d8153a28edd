"""Snapshots: what Kleene answered when they were taken, so that a rebuilding of the house changes no answer unseen.

Each test makes one answer by public verbs alone (`kleene.…` and the command line) and compares it with a file in
`stored`. `python -m tests.snapshots [-k words]` takes them again; the reason stands in the commit.
"""
