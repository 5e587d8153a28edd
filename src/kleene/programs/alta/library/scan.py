"""SCAN commands to actions: START, the words, EOS, and memory for the actions.

Words are read from right to left, because a phrase names its verb first and needs it last: in "jump opposite left
twice" a mark passes the repeats, the direction and the mode before it arrives at `jump`. There the mark stays until all
actions of the phrase are written, one a layer, each into the first free memory cell. Only a few registers are stored:

- `repeats`: how many times more the body is to be written;
- `direction`, and `turning`: whether a turn comes next (else the verb itself, of which `turn` has none);
- `way`: how the body is made, and how far it has come. Opposite is two turns, around is four times turn and verb.

"X after Y" is Y X, the order in which the mark meets the phrases. "X and Y" is X Y, so first the mark goes to the left
in search of an `and`. From there it reads X up to START, and then, from EOS, it reads Y up to the `and`. Without an
`and` it reads everything from EOS to START.
"""

from collections.abc import Sequence

from kleene.errors import InputError
from kleene.programs.alta import Program, halt_spec, input_var, program_spec, qkv, v_relative, var
from kleene.programs.alta.library import scan_language
from kleene.programs.alta.library.inputs import Commands

WALK, LOOK, RUN, JUMP, TURN, LEFT, RIGHT, OPPOSITE, AROUND, TWICE, THRICE, AND, START, AFTER, EOS, MEMORY = range(16)
NAMES = (*scan_language.WORDS[:12], "START", "after", "EOS", "MEMORY")  # of the tokens
NOTHING, I_WALK, I_TURN_LEFT = 0, 1, 5  # the output: nothing, or 1 + the index of an action
SEARCH, FIRST, REST, DONE = range(4)
PLAIN, TOWARDS, OPPOSITE_1, OPPOSITE_2, AROUND_1, AROUND_2, AROUND_3, AROUND_4 = range(8)
WORD_CELL, EOS_CELL, MEMORY_CELL = range(3)


def build() -> Program:
    """The small SCAN program: registers and marks, no position numbers.

    >>> words = tokens("jump twice after walk")
    >>> show(words, build().run(words).output)
    'I_WALK I_JUMP I_JUMP'
    """
    variables = {
        # `after` and EOS are read as a `turn` without a direction: it writes nothing, and the mark moves on.
        "word": input_var(13, lambda token: token if token <= START else TURN),
        "cell": input_var(3, lambda token: {EOS: EOS_CELL, MEMORY: MEMORY_CELL}.get(token, WORD_CELL)),
        "mark": input_var(2, lambda token: token == EOS),
        "filled": input_var(2, lambda token: token == EOS),
        "one": var(2, default=1),
        "phase": var(4, default=SEARCH),
        "repeats": var(3),
        "direction": var(2),
        "turning": var(2),
        "way": var(8, default=PLAIN),
        "action": var(7, default=NOTHING),
    }
    heads = {
        "word_at_mark": qkv("one", "mark", "word"),
        "mark_right": v_relative("mark", 1),
        "filled_left": v_relative("filled", -1),
    }
    return program_spec(
        variables, heads, [_step, _move_mark, _write], "action", len(NAMES), halt=halt_spec("phase", DONE),
        inputs=Commands(tokens, NAMES), name="scan",
    )  # fmt: skip


def _step(z):
    """What the registers hold next."""
    if z["word_at_mark"] > TURN:
        _read(z)
    elif z["phase"] == SEARCH:
        pass
    elif z["turning"]:
        if z["way"] == OPPOSITE_1:
            z["way"] = OPPOSITE_2
        else:
            z["turning"] = 0
    else:
        _end_body(z)


def _read(z):
    word = z["word_at_mark"]
    if word in (LEFT, RIGHT):
        z["direction"] = word - LEFT
    if word == AND and z["phase"] == SEARCH:
        z["phase"] = FIRST
    elif word == START and z["phase"] in (SEARCH, FIRST):
        z["phase"] = REST
    elif word in (AND, START) and z["phase"] == REST:
        z["phase"] = DONE
    if z["phase"] != SEARCH:
        _remember(z, word)


def _remember(z, word):
    """Store what a word says about the verb to come; at the end of a phrase the registers are empty."""
    if word in (TWICE, THRICE) and z["repeats"] == 0:
        z["repeats"] = word - TWICE + 1
    elif word in (LEFT, RIGHT):
        z["turning"] = 1
        if z["way"] == PLAIN:
            z["way"] = TOWARDS
    elif z["way"] == TOWARDS:
        if word == OPPOSITE:
            z["way"] = OPPOSITE_1
        elif word == AROUND:
            z["way"] = AROUND_1


def _end_body(z):
    """After the verb: repeat the body, or leave the phrase with all registers reset."""
    if z["way"] in (AROUND_1, AROUND_2, AROUND_3):
        z["way"] = z["way"] + 1
        z["turning"] = 1
    elif z["repeats"] > 0:
        z["repeats"] = z["repeats"] - 1
        z["turning"] = z["way"] != PLAIN
        if z["way"] in (OPPOSITE_2, AROUND_4):
            z["way"] = OPPOSITE_1 if z["way"] == OPPOSITE_2 else AROUND_1
    elif z["way"] in (TOWARDS, OPPOSITE_2, AROUND_4):
        z["way"] = PLAIN


def _move_mark(z):
    """One to the left, after a word that is no verb, in the search, and after the last body; from START back to EOS."""
    reading = z["word_at_mark"] > TURN or z["phase"] == SEARCH
    if not reading and (z["turning"] or z["repeats"] > 0 or z["way"] in (AROUND_1, AROUND_2, AROUND_3)):
        return
    if z["mark"]:
        z["mark"] = 0
    elif z["cell"] == EOS_CELL:
        if z["word_at_mark"] == START:
            z["mark"] = 1
    elif z["cell"] == WORD_CELL and z["mark_right"]:
        z["mark"] = 1


def _write(z):
    """A turn or a verb, into the first memory cell that is free."""
    if z["word_at_mark"] > TURN or z["phase"] == SEARCH or (z["word_at_mark"] == TURN and not z["turning"]):
        return
    if z["cell"] == MEMORY_CELL and not z["filled"] and z["filled_left"] and z["action"] == NOTHING:
        z["action"] = I_TURN_LEFT + z["direction"] if z["turning"] else I_WALK + z["word_at_mark"]
        z["filled"] = 1


def tokens(command: str | Sequence[str], memory: int = scan_language.MOST_ACTIONS) -> list[int]:
    """The input for a command, with memory for `memory` actions.

    >>> tokens("jump twice", memory=2)
    [12, 3, 9, 14, 15, 15]
    """
    words = scan_language.split_words(command)
    needed = len(scan_language.interpret(words).split())
    if needed > memory:
        raise InputError(f"{' '.join(words)!r} stands for {needed} actions, and there is memory for {memory}")
    return [START, *(NAMES.index(word) for word in words), EOS, *[MEMORY] * memory]


def show(inputs: Sequence[int], outputs: Sequence[int]) -> str:
    """The actions in the memory, spelled as in the published files."""
    return " ".join(scan_language.ACTIONS[action - 1] for action in outputs if action)


def reference(inputs: Sequence[int]) -> list[int]:
    """The program's output, computed from the grammar."""
    words = [NAMES[token] for token in inputs[1 : list(inputs).index(EOS)]]
    actions = [1 + scan_language.ACTIONS.index(action) for action in scan_language.interpret(words).split()]
    before = len(words) + 2
    return [NOTHING] * before + actions + [NOTHING] * (len(inputs) - before - len(actions))
