"""Transformer programs to run, read and learn from."""

from kleene.programs.alta.library.catalog import Entry as Entry
from kleene.programs.alta.library.catalog import entries as entries
from kleene.programs.alta.library.catalog import get as get
