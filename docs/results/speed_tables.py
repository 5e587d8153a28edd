"""The tables of sweeps.md, automata.md and transformer-programs.md, from rows of benchmarks; see tables.py."""

from collections.abc import Callable, Iterator

from benchmark_rows import Row, number, rows, shown  # these two lie beside this file
from tables import markdown, stored

ALTA = {"parity_relative": "parity", "addition": "addition", "subleq": "SUBLEQ"}
SCAN = ("scan", "scan_shift_reduce")
REGEX = "(a|b)*a(a|b){10}"
KEPT = "ping-pong, compact, tape 100: exact steps with every configuration kept"


def kills() -> str:
    found = stored("sweeps-kills")
    in_flight = found["cells_in_flight_at_each_kill"]
    attempts = "; ".join(str(count) for count in found["attempts"].values())
    equal = "all" if found["equal_to_undisturbed"] else "not all"
    times = f"{found['seconds_disturbed']:.0f} s; {found['seconds_undisturbed']:.0f} s"
    lines = {
        "workers killed; drivers killed": f"{found['workers_killed']}; {found['drivers_killed']}",
        "cells in flight with the killed, fewest and most": f"{min(in_flight)}; {max(in_flight)}",
        "cells; lines in the files of rows; set aside": f"{found['cells']}; {found['rows']}; {found['set_aside']}",
        "cells done at the first, second, third and fourth attempt": attempts,
        "measurements equal to those of the undisturbed sweep, bit by bit": equal,
        "time, with kills; undisturbed": f"{times} (load {found['load_average']:.0f} on 2 cores)",
    }
    return markdown(["", ""], [*lines.items()])


def packs() -> str:
    found = rows("sweeps-2-cores")
    names = [name for name in found if name.startswith(("64 runs", "64 cells", "overhead of", "overhead a pack"))]
    return markdown(["64 runs of one program, 200 iterations", ""], [[name, shown(found[name])] for name in names])


def store() -> str:
    found = rows("sweeps-2-cores")
    lines = []
    for name, row in found.items():
        many, _, what = name.partition(" cells: ")
        if what:
            cells = int(many.replace(",", ""))
            count = "" if cells == 10_000 else f" ({cells} of them)"
            lines.append([f"{what}{count}", shown(row), f"{number(1e3 * row['ours'] / cells)} ms"])
    for name in ("looking for new ones among 10,000 rows", "the same sweep again, all done"):
        lines.append([name, shown(found[name]), ""])
    overhead = found["overhead a cell, all of these together"]
    lines.append([overhead["what"].partition(", ")[2], "", shown(overhead)])
    return markdown(["a sweep of 10,000 cells", "all", "each"], lines)


def workers() -> str:
    start = "128 cells of 8 programs, "
    found = [row for name, row in rows("sweeps-2-cores").items() if name.startswith(start)]
    ways = [(row["what"].removeprefix(start), row["ours"]) for row in found]
    ways += dict.fromkeys((row["peer_name"], row["peer"]) for row in found if row["peer"] is not None)
    cells = int(start.partition(" ")[0])
    lines = [[name, f"{rate:.1f}", f"{cells / rate:.1f} s"] for name, rate in ways]
    return markdown([f"{start}5,000 iterations", "cells/s", "time"], lines)


def h200() -> str:
    found = stored("sweeps-h200")
    lines = []
    for name, row in found.items():
        if name.startswith("dry run"):
            (probe,) = row["probes"].values()
            rate = probe["runs"] / probe["seconds_per_iteration"]
            time = f"{row['wall']:.0f} s, estimate for all {row['seconds']:.0f} s"
            lines.append([name, time, f"{rate:,.0f} with {probe['runs']} cells"])
        else:
            lines.append([name.replace(" x ", " × "), f"{row['seconds']:.1f} s", f"{row['rate']:,.0f}"])
    return markdown(["cells × iterations", "time", "cell·iterations a second"], lines)


def regex() -> str:
    found = rows("automata-2-cores")
    own = {name.removeprefix(f"{REGEX}: "): row for name, row in found.items()}
    network, automaton = (found[f"{what}, 10,000 words of 20 symbols"] for what in ("network", "automaton"))
    states, units = f"{own['states']['ours']:,} states", f"{own['hidden units']['ours']:,} hidden units"
    agree, fresh = "words on which network and automaton agree", "peak memory, regex to network, a fresh process"
    lines = [
        [f"regular expression to automaton of {states}", shown(own["regex to automaton"])],
        [f"automaton to network: {units}, {own['hidden units']['remark']}", shown(own["automaton to network"])],
        ["network back to automaton", shown(own["network to automaton"])],
        ["10,000 words of 20 symbols through the network", f"{shown(network, 3)}; {_beside(network)}"],
        ["the same through the automaton", shown(automaton, 3)],
        [agree, f"{found[agree]['ours']:,}"],
        ["memory of that run", shown(found["memory of that run"])],
        ["peak of a fresh process, Python and jax included", shown(found[fresh], 3)],
    ]
    return markdown(["", ""], lines)


def _beside(row: Row) -> str:
    """How many times better than the peer, where there was one."""
    return f"{row['ratio']:.1f}× {row['peer_name']} ({row['peer']:,.0f})" if row["peer"] is not None else row["no_peer"]


def tapes() -> str:
    found = rows("automata-2-cores")
    sizes = {kind: found[f"ping-pong, {kind}: hidden units"]["ours"] for kind in ("compact", "merged")}

    def line(tape: int) -> Iterator[str]:
        yield f"{tape:,} cells"
        for kind in sizes:
            row = found[f"ping-pong, {kind}, tape {tape:,}: exact steps"]
            yield f"{number(row['ours'], 4)} steps/s"
            yield f"{100 * row['ratio']:.1f}% of {row['peer'] / 1e6:.1f} million"

    head = ["tape"]
    for kind, units in sizes.items():
        head += [f"{kind} network ({units} units)", "of the direct simulator in the same run"]
    lines = [[*line(tape)] for tape in (10, 100, 1000)]
    kept, aim = found[KEPT], found["ping-pong, compact, tape 100: exact steps"]["aim"]
    lines.append(["100 cells, every configuration kept", f"{number(kept['ours'], 4)} steps/s", "", "", ""])
    return markdown(head, [*lines, ["aim", f"{aim:,} steps/s", "", "", ""]])


def alta() -> str:
    found = rows("alta-2-cores")

    def line(name: str, title: str) -> Iterator[str]:
        own = {key.removeprefix(f"{name}: "): row for key, row in found.items() if key.startswith(f"{name}: ")}
        yield f"{title}, {own['layers']['ours']} layers"
        yield f"{own['hidden units']['ours']:,} of {own['transition rules, counted out']['ours']:,}"
        yield shown(own["build and compile"])
        yield f"{own['build and compile, peak memory']['ours']:.0f} MB"
        yield shown(own["interpret, plain Python, one sequence"])
        yield shown(own["interpret, batch 256, a sequence"])
        yield shown(next(row for key, row in own.items() if key.startswith("dense network")))
        yield shown(own["network, batch 1, a sequence"])
        yield shown(own["network, batch 256, a sequence"])

    head = ["program", "hidden units, of as many rules", "build and compile", "peak memory of a fresh process"]
    head += ["plain interpreter", "ours, batch 256", "dense network, softmax", "ours, batch 1", "ours, batch 256"]
    return markdown(head, [[*line(*item)] for item in ALTA.items()])


def scan() -> str:
    here, there = rows("scan-2-cores"), rows("scan-h200")

    def value(found: dict[str, Row], name: str, digits: int = 3) -> Iterator[str]:
        for program in SCAN:
            row = found[f"{program}: {name}"]
            aim = f" (aim {row['aim']:,})" if "aim" in row else ""
            yield f"{shown(row, digits)}{aim}"

    def right(found: dict[str, Row], name: str) -> Iterator[str]:
        yield from (f"{found[f'{program}: {name}']['ours']:,}" for program in SCAN)

    lines = [
        ["hidden units", *value(here, "hidden units")],
        ["residual dimensions", *value(here, "residual dimensions")],
        ["layers, most", *value(here, "layers, most")],
        ["layers, mean", *value(here, "layers, mean")],
        ["build and compile, 2 cores", *value(here, "build and compile", 2)],
        ["peak memory, 2 cores", *value(here, "build and compile, peak memory")],
        ["all 20,910 commands, interpreter, 2 cores", *value(here, "interpret 20,910 commands")],
        ["of these right", *right(here, "right in the interpreter")],
        ["all, network, 2 cores", *value(here, "network, 20,910 commands, CPU, float32, first")],
        ["of these right", *right(here, "right in the network, float32")],
    ]
    for dtype in ("float32", "bfloat16"):
        for run in ("first", "again"):
            name = f"network, 20,910 commands, NVIDIA H200, {dtype}, {run}"
            lines.append([f"all, network, H200, {dtype}, {run}", *value(there, name, 2)])
        lines.append(["of these right", *right(there, f"right in the network, {dtype}")])
    return markdown(["", *(f"`{program}`" for program in SCAN)], lines)


TABLES: dict[str, Callable[[], str]] = {
    "sweeps, kills": kills,
    "sweeps, packs": packs,
    "sweeps, store": store,
    "sweeps, workers": workers,
    "sweeps, H200": h200,
    "automata, regular expression": regex,
    "automata, tapes": tapes,
    "transformer programs": alta,
    "transformer programs, SCAN": scan,
}
