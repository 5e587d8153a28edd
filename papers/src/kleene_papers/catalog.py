"""What each experiment of `kleene reproduce` shows and how long it takes, one line each.

Times are strings, because they say under which conditions they were measured: the quick size in CPU time on 2 cores,
the full size on one H200 unless another machine is named. A time that nobody measured is "not measured".
"""

from dataclasses import asdict, dataclass
from typing import Any

NOT_MEASURED = "not measured"
ON_CPU = " on 2 cores"  # ends the time of a full size that was not measured on a GPU


@dataclass(frozen=True)
class Listed:
    """One line of the list: what an experiment shows, and how long its two sizes take."""

    name: str
    shows: str
    quick: str = NOT_MEASURED
    full: str = NOT_MEASURED

    @property
    def cpu(self) -> str | None:
        """The times on 2 cores: of the quick size, and of the full one where it was run there."""
        quick = [] if self.quick == NOT_MEASURED else [f"{self.quick} (quick)"]
        full = [f"{self.full.removesuffix(ON_CPU)} (full)"] if self.full.endswith(ON_CPU) else []
        return ", ".join([*quick, *full]) or None

    @property
    def gpu(self) -> str | None:
        """The time of the full size on an H200."""
        return None if self.full == NOT_MEASURED or self.full.endswith(ON_CPU) else self.full

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


NTM = "NTM, runs that generalise by kind, density and λ of hints (Partial Traces, figure"
NRAM = "NRAM, errors by kind of hint (Partial Traces, figure 12)"
STATES = "examples until learned, by share of states revealed (ours):"
_LINES = (
    Listed("ntm-copy", f"{NTM} 9a)", quick="143 s", full="370 s beside figure 9b"),
    Listed("ntm-repeat_copy_twice", f"{NTM} 9b)", full="413 s beside figures 9a and 9c"),
    Listed("ntm-dyck_words", f"{NTM} 9c)", full="258 s for 6,000 of 100,000 updates"),
    Listed("ntm-dyck_words-online", f"{NTM} 9c), asked online", full="79 s beside figure 9b"),
    Listed("ntm-flip_3rd", f"{NTM} 9d)", full="687 s in four processes, beside english at first"),
    Listed("ntm-repeat_flip_3d", f"{NTM} 9e)", full="873 s in four processes, beside english"),
    Listed("ntm-improvements", "NTM, what each kind of hint adds on four tasks (Partial Traces, figure 4)",
           full="449 s beside other runs"),
    Listed("ntm-dyck-readings", "NTM, runs that generalise on DyckWords by how the paper's text is read (ours)",
           quick="765 s by the clock", full="382 s beside other runs"),
    Listed("ntm-decoders", "NTM, Copy with value hints by the decoder of the tape (ours)", quick="215 s by the clock"),
    Listed("nram-list_k", NRAM, full="24 s beside other runs"),
    Listed("nram-swap", NRAM, full="1,190 s beside other work on 2 cores"),
    Listed("nram-permute", NRAM, full="43 s beside other runs"),
    Listed("nram-increment", NRAM, full="1,904 s beside other work on 2 cores"),
    Listed("nram-merge", NRAM, full="3,116 s beside other work on 2 cores"),
    Listed("nram-permute_noise", NRAM, full="39 s beside other runs"),
    Listed("nram-list_k-stated", f"{NRAM}, our variant", quick="148 s", full="29 s"),
    Listed("nram-swap-stated", f"{NRAM}, our variant", quick="110 s", full="367 s on 2 cores"),
    Listed("nram-permute-stated", f"{NRAM}, our variant", quick="237 s", full="73 s"),
    Listed("nram-increment-stated", f"{NRAM}, our variant", quick="132 s", full="588 s on 2 cores"),
    Listed("nram-merge-stated", f"{NRAM}, our variant", full="64 s"),
    Listed("nram-permute_noise-stated", f"{NRAM}, our variant", full="52 s"),
    Listed("nram-deviations", "NRAM, what each way in which training may differ from the paper's changes in Increment "
           "(ours)", quick="445 s by the clock", full="1,190 s beside other work on 2 cores"),
    Listed("nram-deviations-permute", "the same in Permute (ours)", full="1,905 s beside other work on 2 cores"),
    Listed("neural-gpu-merge", "Merge, an NRAM with full traces beside a Neural GPU (Partial Traces, figure 18)",
           "231 s", "1,300 s on 2 cores"),
    Listed("neural-gpu-merge-repeated", "Merge, a Neural GPU that sees 10,000 examples again and again (Partial "
           "Traces, figure 18 in another reading)"),
    Listed("states-tomita_2-rnn", f"{STATES} tomita_2, RNN"),
    Listed("states-tomita_2-lstm", f"{STATES} tomita_2, LSTM"),
    Listed("states-tomita_3-rnn", f"{STATES} tomita_3, RNN", full="92 s on 2 cores"),
    Listed("states-tomita_3-lstm", f"{STATES} tomita_3, LSTM"),
    Listed("states-tomita_4-rnn", f"{STATES} tomita_4, RNN", quick="21 s", full="98 s on 2 cores"),
    Listed("states-tomita_4-lstm", f"{STATES} tomita_4, LSTM", quick="42 s"),
    Listed("states-tomita_5-rnn", f"{STATES} tomita_5, RNN", full="81 s on 2 cores"),
    Listed("states-tomita_5-lstm", f"{STATES} tomita_5, LSTM", full="306 s on 2 cores"),
    Listed("states-tomita_7-rnn", f"{STATES} tomita_7, RNN", full="82 s on 2 cores"),
    Listed("states-tomita_7-lstm", f"{STATES} tomita_7, LSTM"),
    Listed("rules", "a language model learns a rule α Q ω, with scaffolds Q that it knows and that it does not "
           "(LSTMs Compose Bottom-Up)", "34 s", "473 s beside rule-frequency and english"),
    Listed("rule-frequency", "how often the rule must be seen (LSTMs Compose Bottom-Up)", "59 s",
           "525 s beside rules and english"),
    Listed("english", "interdependence of words against their distance in sentence and tree "
           "(LSTMs Compose Bottom-Up, figures 3 and 4)", "231 s",
           "1,120 s beside figures 9d and 9e"),
    Listed("english-grammar", "the same for sentences of the built-in grammar, without data", "62 s"),
    Listed("hints-for-transformers", "how much of a program's trace a Transformer needs, for programs that by "
           "ALTA's theory can and cannot be learned (ours)", full="242 s"),
    Listed("parity-end-to-end", "encoder Transformers taught parity from its answers alone, by layers, sharing and "
           "positions (ALTA, Table 3 and figures 5, 9, 10, 11)", "215 s",
           "1,761 s for five of eight rows, one of them with 8,000 of 50,000 updates, beside two cells of SCAN"),
    Listed("parity-trace-supervision", "parity by trace supervision: accuracy on longer words and more ones than in "
           "training, for three programs (ALTA, Table 2 and figure 4)", "139 s", "182 s for up to 50,000 updates"),
    Listed("scan-end-to-end", "encoder-decoder Transformers taught SCAN, by number of layers (ALTA, Table 6 and "
           "figure 18)", "262 s", "1,055 s for two of 24 cells, 48,000 and 34,000 of 100,000 updates, beside parity"),
    Listed("minimal-programs", "rules of minimal programs, and whether these generalise: parity, addition, SCAN's "
           "splits (ALTA, section 4)", "49 s", "336 s on 2 cores"),
    Listed("simplicity-bias", "rules against layers of every program of the library, and which of the two networks "
           "follow (ALTA, section 4.1)", "11 s", "53 s on 2 cores"),
    Listed("taught-algorithms", "whether networks keep the algorithm that they are taught, by way of teaching, and how "
           "much compiled, hidden and taught networks look trained (ours)", "316 s"),
)  # fmt: skip
CATALOG = {line.name: line for line in _LINES}


def listed(name: str) -> Listed:
    """The line of an experiment. One without a line is listed all the same."""
    return CATALOG.get(name, Listed(name, "not described"))


def catalog_table(lines: list[Listed]) -> Any:
    """A rich table of some lines."""
    from rich.table import Table  # slow to import

    table = Table(box=None, header_style="bold", pad_edge=False, collapse_padding=True)
    table.add_column("experiment", no_wrap=True)
    table.add_column("shows")
    table.add_column("quick, CPU time")
    table.add_column("--full, on an H200")
    for line in lines:
        table.add_row(line.name, line.shows, line.quick, line.full)
    return table
