"""Teaching networks: a lesson is a task, a machine, policies for hints and a criterion.

`lesson` and `hints` hold these parts, and `lessons` finds a lesson by name; `sequences` (NTM), `memories` (NRAM),
`neural_gpus`, `acceptors` (RNN, LSTM), `language` (LSTM) and `transformers` (with `program_words`) are the built-in
ones. `plan` and `loop` teach many runs at once, with checkpoints, `reports` and `results` hold the measurements;
`teach` is the verb.
"""

from kleene.teaching.hints import Hints as Hints
from kleene.teaching.hints import Policy as Policy
from kleene.teaching.hints import ProgramTrace as ProgramTrace
from kleene.teaching.hints import everything as everything
from kleene.teaching.lesson import NCM as NCM
from kleene.teaching.lesson import Examples as Examples
from kleene.teaching.lesson import Lesson as Lesson
from kleene.teaching.lesson import Task as Task
from kleene.teaching.lesson import Trainable as Trainable
from kleene.teaching.lesson import UpToTwice as UpToTwice
from kleene.teaching.lesson import perfect as perfect
