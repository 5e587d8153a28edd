"""The studies of networks whose algorithm is known: which explanations find it, and which teaching keeps it."""
