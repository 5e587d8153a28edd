"""Exercises: a statement, a stub, hints, and a grader that shows the smallest input on which a solution is wrong.

An exercise is a folder with a text file and a reference function, on the shelf here or a teacher's own:

    exercise.md + reference.py ─ find ─▶ Exercise      exercise.py, finding.py
    Exercise ─ start ─▶ a file for the student         finding.py
    file ─ grade ─▶ Grade                              grading.py starts a process with limits for the file, in which
                                                       solving.py runs it, and one for the reference (cases.py);
                                                       deciding.py compares their answers
"""

from kleene.exercises.exercise import Exercise as Exercise
from kleene.exercises.finding import exercises_in as exercises_in
from kleene.exercises.finding import find as find
from kleene.exercises.finding import shelf as shelf
from kleene.exercises.finding import start as start
from kleene.exercises.grade import Grade as Grade
from kleene.exercises.grading import grade as grade
from kleene.exercises.grading import grade_each as grade_each
