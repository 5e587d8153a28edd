"""SCAN commands to actions by shift-reduce parsing, with a stack, a tree and an output in memory.

One nonterminal S and 20 rules: each verb; turn, turn opposite and turn around with either direction; the same with S;
S twice and thrice; S and S; S after S. A step takes two layers: in MATCH all positions compare the top three symbols of
the stack with the rules, in ACT they shift the next word or reduce. The last two rules wait for the command to end.

Nothing is addressed by number. The cells of the stack hold which of them is top, second and third, and pass that on
to their neighbours. Nodes of the tree are cells too, in the order in which they were made: so the last child of a node
is the one to its left, and the first child of `and` and `after` is the one that was newest when that word was shifted.

Then a mark walks over the tree, from the root. Each rule has a target, such as turn, turn, child for "S opposite left";
the marked node does the next item of its target, one a layer: an action is written into the first free output cell, a
child gets the mark, and when the target is at its end it begins anew and the mark goes back to the parent.
"""

from collections.abc import Sequence

from kleene.programs.alta import Program, halt_spec, input_var, program_spec, qkv, v_relative, var
from kleene.programs.alta.library import scan
from kleene.programs.alta.library.inputs import Commands
from kleene.programs.alta.library.scan import (
    AFTER,
    AND,
    AROUND,
    EOS,
    I_TURN_LEFT,
    I_WALK,
    JUMP,
    LEFT,
    MEMORY,
    NOTHING,
    OPPOSITE,
    RIGHT,
    START,
    THRICE,
    TURN,
    TWICE,
)
from kleene.programs.alta.library.scan_language import MOST_ACTIONS

# Tokens besides those of `scan`. The stack needs two cells below START, so that there is always a third symbol, and
# five above it for "S and S around left". The tree needs a cell before its first, and at most seven nodes.
SECOND_CELL, TOP_CELL, STACK_CELL, BEFORE_TREE, TREE_CELL = range(16, 21)
FRONT = [SECOND_CELL, TOP_CELL, *[STACK_CELL] * 6, BEFORE_TREE, *[TREE_CELL] * 7]
WORDS, BOTTOM, STACK, TREE, OUTPUT = range(5)  # the kinds of cells
KINDS = {SECOND_CELL: BOTTOM, TOP_CELL: BOTTOM, STACK_CELL: STACK, BEFORE_TREE: TREE, TREE_CELL: TREE, MEMORY: OUTPUT}

EMPTY, S = START, 14  # symbols on the stack are these and words
ELSEWHERE, TOP, SECOND, THIRD = range(4)
MATCH, ACT, DECODE, DONE = range(4)

# What to do, the rules in the order of their lengths; direction apart.
(
    SHIFT, WALK_RULE, LOOK_RULE, RUN_RULE, JUMP_RULE, TWICE_RULE, THRICE_RULE, TURN_TO, S_TO, TURN_OPPOSITE, S_OPPOSITE,
    TURN_AROUND, S_AROUND, AND_RULE, AFTER_RULE, ACCEPT,
) = range(16)  # fmt: skip

# The items of a target: up to four turns and four times the (last) child, the first child, the end, a verb.
TURN_1, CHILD_1, TURN_2, CHILD_2, TURN_3, CHILD_3, TURN_4, CHILD_4, FIRST_CHILD, END, VERB = range(11)
TURNS = (TURN_1, TURN_2, TURN_3, TURN_4)
TARGETS = {
    TWICE_RULE: (CHILD_1, CHILD_2),
    THRICE_RULE: (CHILD_1, CHILD_2, CHILD_3),
    TURN_TO: (TURN_1,),
    S_TO: (TURN_1, CHILD_1),
    TURN_OPPOSITE: (TURN_1, TURN_2),
    S_OPPOSITE: (TURN_1, TURN_2, CHILD_2),
    TURN_AROUND: TURNS,
    S_AROUND: (TURN_1, CHILD_1, TURN_2, CHILD_2, TURN_3, CHILD_3, TURN_4, CHILD_4),
    AND_RULE: (FIRST_CHILD, CHILD_1),
    AFTER_RULE: (CHILD_1, FIRST_CHILD),
}


def build() -> Program:
    """The shift-reduce program.

    >>> words = tokens("jump twice after walk")
    >>> scan.show(words, build().run(words).output)
    'I_WALK I_JUMP I_JUMP'
    """
    variables = {
        "kind": input_var(5, lambda token: KINDS.get(token, WORDS)),
        "word": input_var(15, lambda token: token if token <= EOS else START),
        "mark": input_var(2, lambda token: token == START),
        "step": var(4, default=ACT),
        "rule": var(16, default=SHIFT),
        "symbol": var(15, default=EMPTY),
        "role": input_var(4, lambda token: {SECOND_CELL: SECOND, TOP_CELL: TOP}.get(token, ELSEWHERE)),
        "node": var(15),  # the rule that made the node, or 0
        "direction": var(2),
        "item": var(VERB + 4, default=TURN_1),
        "newest": input_var(2, lambda token: token == BEFORE_TREE),
        "first": var(2),
        "here": var(2),
        "filled": input_var(2, lambda token: token == EOS),
        "action": var(7, default=NOTHING),
        "one": var(2, default=1),
        "is_top": var(4, default=TOP),
        "is_second": var(4, default=SECOND),
        "is_third": var(4, default=THIRD),
    }
    heads = {
        "next_word": qkv("one", "mark", "word"),
        "top": qkv("is_top", "role", "symbol"),
        "second": qkv("is_second", "role", "symbol"),
        "third": qkv("is_third", "role", "symbol"),
        "item_here": qkv("one", "here", "item"),
        "direction_here": qkv("one", "here", "direction"),
        "newest_here": qkv("one", "here", "newest"),
        "first_here": qkv("one", "here", "first"),
        "mark_left": v_relative("mark", -1),
        "role_left": v_relative("role", -1),
        "role_right": v_relative("role", 1),
        "role_right_2": v_relative("role", 2),
        "newest_left": v_relative("newest", -1),
        "here_left": v_relative("here", -1),
        "here_right": v_relative("here", 1),
        "filled_left": v_relative("filled", -1),
    }
    return program_spec(
        variables, heads, _step, "action", input_range=21, halt=halt_spec("step", DONE), name="scan_shift_reduce",
        inputs=Commands(tokens, scan.NAMES),
    )  # fmt: skip


def _step(z):
    if z["step"] == MATCH:
        if z["rule"] == SHIFT:
            _match(z)
        z["step"] = ACT
    elif z["step"] == ACT:
        z["step"] = DECODE if z["rule"] == ACCEPT else MATCH
        if z["rule"] == SHIFT:
            _shift(z)
        elif z["rule"] != ACCEPT:
            z["rule"] = SHIFT
            _reduce(z)
        elif z["kind"] == TREE and z["newest"]:
            z["here"] = 1
    elif z["step"] == DECODE:
        _decode(z)


def _match(z):
    """The rule whose right-hand side is on top of the stack; where there is none it stays SHIFT."""
    top, second = z["top"], z["second"]
    if top <= JUMP:
        z["rule"] = WALK_RULE + top
    elif top in (TWICE, THRICE):
        z["rule"] = TWICE_RULE + top - TWICE
    elif top in (LEFT, RIGHT):
        if second == TURN:
            z["rule"] = TURN_TO
        elif second == S:
            z["rule"] = S_TO
        elif second in (OPPOSITE, AROUND):
            z["rule"] = (TURN_OPPOSITE if z["third"] == TURN else S_OPPOSITE) + 2 * (second - OPPOSITE)
    elif top == S and z["next_word"] == EOS:
        z["rule"] = AND_RULE if second == AND else AFTER_RULE if second == AFTER else ACCEPT


def _shift(z):
    """Push the next word; the cell after the top takes it. START goes to the bottom, and looks like an empty cell."""
    if z["kind"] == WORDS:
        z["mark"] = z["mark_left"]
    elif z["kind"] == TREE:
        if z["newest"] and z["next_word"] in (AND, AFTER):
            z["first"] = 1
    elif z["role"] == ELSEWHERE:
        if z["kind"] == STACK and z["role_left"] == TOP:
            z["role"] = TOP
            if z["symbol"] == EMPTY and z["next_word"] != EOS:
                z["symbol"] = z["next_word"]
    else:
        z["role"] = (z["role"] + 1) % 4


def _reduce(z):
    """Replace the right-hand side by S, and make the node of the rule beside the newest one."""
    if z["kind"] in (BOTTOM, STACK):
        if z["rule"] <= JUMP_RULE:
            if z["role"] == TOP and z["symbol"] <= JUMP:
                z["symbol"] = S
        elif z["rule"] <= S_TO:
            _pop_one(z)
        else:
            _pop_two(z)
    elif z["kind"] == TREE:
        if z["newest"]:
            z["newest"] = 0
        elif z["newest_left"]:
            z["newest"] = 1
            _make_node(z)


def _pop_one(z):
    if z["role"] == TOP:
        z["role"] = ELSEWHERE
        if z["symbol"] in (LEFT, RIGHT, TWICE, THRICE):
            z["symbol"] = EMPTY
    elif z["role"] == SECOND:
        z["role"] = TOP
        if z["symbol"] == TURN:
            z["symbol"] = S
    elif z["role"] == THIRD:
        z["role"] = SECOND
    elif z["role_right"] == THIRD:
        z["role"] = THIRD


def _pop_two(z):
    if z["role"] == TOP:
        z["role"] = ELSEWHERE
        if z["symbol"] in (LEFT, RIGHT, S):
            z["symbol"] = EMPTY
    elif z["role"] == SECOND:
        z["role"] = ELSEWHERE
        if z["symbol"] in (OPPOSITE, AROUND, AND, AFTER):
            z["symbol"] = EMPTY
    elif z["role"] == THIRD:
        z["role"] = TOP
        if z["symbol"] == TURN:
            z["symbol"] = S
    elif z["role_right"] == THIRD:
        z["role"] = SECOND
    elif z["role_right_2"] == THIRD:
        z["role"] = THIRD


def _make_node(z):
    if z["item"] == TURN_1 and z["node"] == 0:
        if z["rule"] <= JUMP_RULE:
            z["item"] = VERB + z["rule"] - WALK_RULE
        else:
            z["node"] = z["rule"]
        if z["rule"] in (TWICE_RULE, THRICE_RULE, AFTER_RULE):
            z["item"] = CHILD_1
        elif z["rule"] == AND_RULE:
            z["item"] = FIRST_CHILD
        elif z["top"] == RIGHT:
            z["direction"] = 1


def _decode(z):
    item = z["item_here"]
    if item >= END and z["newest_here"]:  # a verb is an action and an end in one
        z["step"] = DONE
    if z["kind"] == OUTPUT:
        if z["action"] == NOTHING and not z["filled"] and z["filled_left"]:
            if item in TURNS:
                z["action"] = I_TURN_LEFT + z["direction_here"]
                z["filled"] = 1
            elif item >= VERB:
                z["action"] = I_WALK + item - VERB
                z["filled"] = 1
    elif z["kind"] == TREE:
        if item not in TURNS:
            _move(z, item)
        if z["here"]:
            _next_item(z)


def _move(z, item):
    """The mark leaves its node for the last child, the first child or the parent."""
    if z["here"]:
        z["here"] = 0
    elif item == FIRST_CHILD:
        z["here"] = z["first"]
    elif item < END:
        z["here"] = z["here_right"]
    elif z["first_here"]:
        z["here"] = z["newest"]
    else:
        z["here"] = z["here_left"]


def _next_item(z):
    for rule, items in TARGETS.items():
        if z["node"] == rule:
            for item, following in zip((*items, END), (*items[1:], END, items[0])):
                if z["item"] == item:
                    z["item"] = following


def tokens(command: str | Sequence[str], memory: int = MOST_ACTIONS) -> list[int]:
    """The input for a command, with memory for `memory` actions: stack, tree, START, words, EOS, output."""
    return FRONT + scan.tokens(command, memory)


def reference(inputs: Sequence[int]) -> list[int]:
    """The program's output, computed from the grammar."""
    return [NOTHING] * len(FRONT) + scan.reference(inputs[len(FRONT) :])
