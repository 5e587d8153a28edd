"""A process for code of strangers: its size and what it writes are limited, and what it sends is read with suspicion.

    Confined.ask ─ one line of JSON ─▶ worker.py, which calls a method of one object ─ one line of JSON ─▶ the answer
                                       kernel.py: what the system can hold a process to

This module imports nothing, because every such process begins here.
"""
