"""A Turing machine run as slowly and plainly as possible: the reference that the simulator is compared with."""

from kleene.notation.computations import Configuration
from kleene.programs.turing import TuringMachine


def naive_run(machine: TuringMachine, word, max_steps: int) -> tuple[str, list[Configuration]]:
    """The verdict and every configuration, by the definition."""
    tape = dict(enumerate(word))
    state, head = machine.start, 0
    seen = [_configuration(machine, state, head, tape)]
    while state not in (machine.accept, machine.reject) and len(seen) <= max_steps:
        state, symbol, move = machine.transitions[state, tape.get(head, machine.blank)]
        tape[head] = symbol
        head = head + 1 if move == "R" else max(0, head - 1)
        seen.append(_configuration(machine, state, head, tape))
    verdict = {machine.accept: "accept", machine.reject: "reject"}.get(state, "running")
    return verdict, seen


def _configuration(machine: TuringMachine, state: str, head: int, tape: dict[int, str]) -> Configuration:
    used = [cell for cell, symbol in tape.items() if symbol != machine.blank]
    return Configuration(state, head, "".join(tape[cell] for cell in range(max(used, default=-1) + 1)))
