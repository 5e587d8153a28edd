"""The numbers in sentences on NRAMs, Neural GPUs and states as hints; see sentences.py."""

from sentences import Sentence  # beside this file

PAGE: list[Sentence] = []
CLAIMS: list[Sentence] = []
