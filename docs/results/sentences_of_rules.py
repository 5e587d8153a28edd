"""The numbers in sentences on rules, of both papers on interdependence; see sentences.py."""

from sentences import Sentence  # beside this file

PAGE: list[Sentence] = []
CLAIMS: list[Sentence] = []
