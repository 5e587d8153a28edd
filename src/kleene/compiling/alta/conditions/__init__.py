"""The conditions of a certificate, one idea to a module."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """One condition: its name, whether it holds, and the figures behind that."""

    name: str
    holds: bool
    detail: str
