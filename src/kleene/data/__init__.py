"""Published data sets on this machine. Kleene downloads one only when it is asked to (`kleene data get NAME`).

`catalog` says what there is, `folders` where it lies and what is here, and `getting` fetches it.
"""

from kleene.data.folders import data_file as data_file
from kleene.data.folders import data_folder as data_folder
from kleene.data.folders import data_roots as data_roots
from kleene.data.folders import read_text as read_text
