"""The conditions of a certificate, one idea to a module."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """One thing that must hold, whether it does, and the figures behind it."""

    name: str
    holds: bool
    detail: str
