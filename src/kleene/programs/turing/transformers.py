"""A Turing machine as a transformer program: positions are cells, and every layer is a step.

The head is a variable of the position that it stands on. Each position looks at its two neighbours, and takes the head
over when it comes. So the machine's tape, head and state are the program's trace.

The input is START, the word with blanks behind it, and END. The first layer puts the head on cell 0, and one layer
after the machine has halted every position knows it. A run that needs more cells than there are stops with the head
on END.
"""

from kleene.errors import InputError
from kleene.notation.words import Word, whole_word
from kleene.programs.alta import Program, halt_spec, program_spec, qkv, v_relative, var
from kleene.programs.turing.machine import TuringMachine

CELL, START, END = range(3)  # the values of `place`
AWAY = 0  # the value of `state` where the head is not


def transformer_program(machine: TuringMachine) -> Program:
    """The program that does on a tape what the machine does.

    >>> from kleene.programs.turing.library import stored
    >>> machine = stored("increment")
    >>> trace = transformer_program(machine).run(tape_tokens(machine, "1011"))  # the first bit is the lowest
    >>> written_tape(machine, trace.output)
    '0111'
    """
    symbols, states = machine.tape_alphabet, machine.states
    begin, start, end = len(states) + 1, len(symbols), len(symbols) + 1
    halting = {states.index(machine.accept) + 1, states.index(machine.reject) + 1}
    blank = symbols.index(machine.blank)
    # By state and symbol: the next state, the symbol written, and the move; None where the head stays for good.
    acts: list[list[tuple[int, int, int] | None]] = [[None] * len(symbols) for _ in range(len(states) + 2)]
    acts[begin] = [(states.index(machine.start) + 1, symbol, 1) for symbol in range(len(symbols))]
    for (state, symbol), (target, written, move) in machine.transitions.items():
        action = states.index(target) + 1, symbols.index(written), 1 if move == "R" else -1
        acts[states.index(state) + 1][symbols.index(symbol)] = action

    def step(z):
        if z["state_now"] in halting or z["place_now"] == END:
            z["done"] = 1
        elif z["here"] == 1:
            leave(z)
        elif z["place"] != START:
            arrive_from_left(z)
        if z["here"] == 0 and z["place"] == CELL and z["place_now"] == CELL:
            arrive_from_right(z)

    def leave(z):
        action = acts[int(z["state"])][int(z["symbol"])]
        if action is None:  # it has halted
            return
        target, z["symbol"], move = action
        if move < 0 and z["place_left"] == START:  # a move left from cell 0 stays there
            z["state"] = target
        else:
            z["state"], z["here"] = AWAY, 0

    def arrive_from_left(z):
        action = acts[int(z["state_left"])][int(z["symbol_left"])]
        if action is not None and action[2] > 0:
            z["state"], z["here"] = action[0], 1

    def arrive_from_right(z):
        action = acts[int(z["state_right"])][int(z["symbol_right"])]
        if action is not None and action[2] < 0:
            z["state"], z["here"] = action[0], 1

    variables = {
        "symbol": var(len(symbols), input_init_fn=lambda token: token if token < start else blank),
        "place": var(3, input_init_fn=lambda token: {start: START, end: END}.get(token, CELL)),
        "state": var(begin + 1, input_init_fn=lambda token: begin if token == start else AWAY),
        "here": var(2, input_init_fn=lambda token: token == start),
        "one": var(2, default=1),
        "done": var(2),
    }
    heads = {
        "symbol_left": v_relative("symbol", -1),
        "symbol_right": v_relative("symbol", 1),
        "state_left": v_relative("state", -1),
        "state_right": v_relative("state", 1),
        "place_left": v_relative("place", -1),
        "state_now": qkv("one", "here", "state"),
        "place_now": qkv("one", "here", "place"),
    }
    return program_spec(
        variables, heads, step, "symbol", input_range=end + 1, halt=halt_spec("done"), max_layers=10_000,
        name=machine.name,
    )  # fmt: skip


def tape_tokens(machine: TuringMachine, word: Word, cells: int | None = None) -> list[int]:
    """The input for a word: START, its symbols, blanks, END; as many cells as the run visits, or `cells`."""
    whole = whole_word(word)
    codes = [machine.tape_alphabet.index(symbol) for symbol in whole]
    if cells is None:
        done = machine.run(whole)
        if done.verdict == "running":
            raise InputError(f"{machine.name} has not halted after {done.steps:,} steps; give the number of `cells`")
        cells = max(configuration.head for configuration in done.configurations) + 1
    blank, symbols = machine.tape_alphabet.index(machine.blank), len(machine.tape_alphabet)
    return [symbols, *codes, *[blank] * (cells - len(codes)), symbols + 1]


def written_tape(machine: TuringMachine, output: list[int]) -> str:
    """The tape that an output of the program stands for, without the blanks behind it."""
    written = "".join(machine.tape_alphabet[code] for code in output[1:-1])
    return written.rstrip(machine.blank)
