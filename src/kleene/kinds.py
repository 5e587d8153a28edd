"""The kinds of programs and machines: one record each, which is all that the verbs know of a kind.

The records refer to classes and functions as "module:name", and these are imported when they are first needed. So
`kleene --help` is quick, and this file shows the whole house without importing it.

A kind of your own is one more record: `kinds.register(Kind("calculator", machine=Abacus, program=Calculator, …))`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from kleene.notation.console import Entry


def resolved(reference: str) -> Any:
    """The class or function that "module:name" refers to.

    >>> resolved("kleene.programs.automata.dfa:DFA").__name__
    'DFA'
    """
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class late:
    """A function that imports the one referred to when it is first called.

    >>> late("kleene.programs.automata.library:spelled")("(a|b)*abb")
    <DFA of 4 states over a b>
    """

    reference: str

    def __call__(self, *args: Any, **options: Any) -> Any:
        return resolved(self.reference)(*args, **options)


# The defaults: how a kind reads its input, runs, shows its outcome and measures its machine.
_READ, _RUN = late("kleene.running:as_typed"), late("kleene.running:plain_run")
_TELLING, _SIZES = late("kleene.running:plain_telling"), late("kleene.running:plain_sizes")


@dataclass(frozen=True)
class Kind:
    """What the verbs need to know of one kind. A *subject* is a program of the kind, or its machine.

    Only `name` and `machine` are required. A kind without `program`, such as a language model, can be run and shown,
    but not compiled or checked.
    """

    name: str  # as errors call one: "automaton"
    machine: type | str  # a class, or "module:name"
    program: type | str | None = None
    relatives: tuple[str, ...] = ()  # classes of programs that `adopt` turns into `program`
    adopt: Callable[..., Any] | None = None  # (subject, **those of `adoption` that were given) -> program
    adoption: tuple[str, ...] = ()  # options that every verb takes: they say what else makes a subject a program
    lowered: Callable[[Any], Any] | None = None  # (program) -> a program of another kind that computes the same

    # On the command line.
    prefixes: tuple[str, ...] = ()  # before names of the shelf; lists use the first; "" is no prefix
    shelf: Callable[[], Mapping[str, Entry]] | None = None
    spelled: Callable[[str], Any] | None = None  # (what follows the prefix) -> program, or None
    files: tuple[str, ...] = ()  # endings of the files that a program's own `save` writes
    noun: str = "program"  # as reports of runs call one: "automaton read 3 symbols"
    read: Callable[[Sequence[str], Any], Any] = _READ  # (typed words, subject) -> input
    runner: Callable[..., Any] = _RUN  # (subject, input, **run options) -> Trace
    telling: Callable[[Any], Any] = _TELLING  # (Outcome) -> Telling
    run_options: tuple[str, ...] = ()
    editable: tuple[str, ...] = ()  # channels that edits of a run may set, as patterns: see `kleene.notation.edits`

    # Compiling, and checking that the machine does what its program does.
    compiler: Callable[..., Any] | None = None  # (program, **options) -> machine
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # of the compiler: values, default first
    stated: tuple[str, ...] = ()  # options that a report of compiling always names
    sizes: Callable[[Any], dict[str, Any]] = _SIZES  # (machine) -> how large it is
    networks: Callable[..., Sequence[Any]] | None = None  # (program, **options) -> machines, if several are checked
    inputs: Callable[..., Sequence[Any]] | None = None  # (program, entry, samples, max_length, seed) -> inputs
    judges: Callable[..., Mapping[str, Callable]] | None = None  # (program, entry, reference) -> judges by name
    compared: tuple[str, ...] = ("program", "network")  # what a report says was compared
    certifier: Callable[..., Any] | None = None  # (machine, length=…, program=…) -> why it equals its program
    torch: Callable[[Any], Any] | None = None  # (machine) -> `TorchParts`, its weights and model in PyTorch's terms
    held: Callable[[Any, Any], Any] | None = None  # (machine, its program's trace) -> the part that the machine holds
    limits: Mapping[str, Any] = field(default_factory=dict)  # run options that keep every checked run finite
    partial: bool = False  # whether a program may refuse an input, which is then not compared
    whole: Callable[[Any, Any], str | None] | None = None  # (program, machine) -> a difference that no input shows

    # What only some kinds have.
    extractor: Callable[..., Any] | None = None  # (machine) -> the program that it computes
    picture: Callable[..., Any] | None = None  # (subject, word, …) -> Picture
    smallest: Callable[[Any], Any] | None = None  # (program) -> the smallest one that computes the same
    streams: Callable[..., Any] | None = None  # (machine, words) -> ResidualStreams
    untrained: Callable[..., Any] | None = None  # (machine, seed) -> a machine of the same shape with random weights
    watched: Callable[..., Any] | None = None  # (outcomes, cut, program) -> what a page shows
    hider: late | None = None  # (machine, **options) -> the same machine, with its algorithm out of sight

    @property
    def indefinite(self) -> str:
        """One of the kind as errors call it: "an automaton"."""
        return f"an {self.name}" if self.name[0] in "aeiou" else f"a {self.name}"

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of programs and machines, as "module:name"."""
        return tuple(_named(one) for one in (self.program, self.machine, *self.relatives) if one is not None)

    def is_program(self, subject: Any) -> bool:
        """Whether the subject is a program of this kind, and not its machine."""
        return self.program is not None and _named(self.program) in _ancestry(subject)


def _named(one: type | str) -> str:
    return one if isinstance(one, str) else f"{one.__module__}:{one.__qualname__}"


def _ancestry(subject: Any) -> tuple[str, ...]:
    return tuple(_named(one) for one in type(subject).__mro__)


TRANSFORMERS = Kind(
    "transformer program",
    program="kleene.programs.alta.program:Program",
    machine="kleene.machines.transformer.universal_transformer:UniversalTransformer",
    relatives=("kleene.programs.alta.compat.program:AltaProgram",),
    adopt=lambda program: program.lowered,
    prefixes=("",),
    shelf=late("kleene.programs.alta.library:entries"),
    read=late("kleene.programs.alta.console:read"),
    runner=late("kleene.programs.alta.console:run"),
    telling=late("kleene.programs.alta.console:telling"),
    run_options=("max_layers",),
    editable=("*",),
    compiler=late("kleene.compiling.alta.compiler:compile_program"),
    options={
        "dtype": ("float32", "float64", "bfloat16"),
        "rules": ("compact", "paper"),
        "activation": ("clipped", "relu"),
        "attention_scalar": (100.0,),
        "layers": ("shared", "unrolled"),
        "max_length": (None,),
        "causal": (False, True),
        "depth": (None,),
    },
    stated=("dtype", "rules"),
    inputs=late("kleene.compiling.alta.checking:inputs"),
    judges=late("kleene.compiling.alta.checking:judges"),
    compared=("program", "independent interpreter", "network"),
    streams=late("kleene.machines.transformer.streams:compiled_streams"),
    torch=late("kleene.machines.transformer.pytorch:shared_parts"),
    certifier=late("kleene.compiling.alta.certificates:certify"),
    watched=late("kleene.watching.transformers:parts"),
)
UNROLLED = Kind(
    "unrolled Transformer",
    machine="kleene.machines.transformer.unrolled:UnrolledTransformer",
    noun="network",
    read=late("kleene.programs.alta.console:read"),
    runner=late("kleene.programs.alta.console:run"),
    telling=late("kleene.programs.alta.console:telling"),
    run_options=("max_layers",),
    held=lambda network, trace: network.held_part(trace),
    torch=late("kleene.machines.transformer.pytorch:unrolled_parts"),
    certifier=late("kleene.compiling.alta.unrolled_certificates:certify_unrolled"),
)
PLAIN_TRANSFORMERS = Kind(
    "plain Transformer",
    machine="kleene.machines.transformer.plain:PlainTransformer",
    noun="network",
    read=late("kleene.programs.alta.console:read"),
    telling=late("kleene.programs.alta.console:telling"),
    hider=late("kleene.groundtruth.transformers:hide_transformer"),
)
AUTOMATA = Kind(
    "automaton",
    program="kleene.programs.automata.dfa:DFA",
    machine="kleene.machines.rnn.simple_rnn:SimpleRNN",
    relatives=("kleene.programs.automata.nfa:NFA",),
    adopt=late("kleene.programs.automata.nfa:as_dfa"),
    prefixes=("dfa:",),
    shelf=late("kleene.programs.automata.library:entries"),
    spelled=late("kleene.programs.automata.library:spelled"),
    files=(".jff", ".json", ".dot", ".gv"),
    noun="automaton",
    read=late("kleene.programs.automata.library:read"),
    telling=late("kleene.programs.automata.library:telling"),
    editable=("state", "hidden"),
    compiler=late("kleene.compiling.automata:compile_dfa"),
    options={
        "machine": ("rnn", "lstm"),
        "form": ("live", "textbook"),
        "activation": ("relu", "slu"),
        "dtype": ("exact", "float32", "float64"),
    },
    stated=("form",),
    sizes=late("kleene.programs.automata.library:sizes"),
    inputs=late("kleene.compiling.automata:inputs"),
    judges=late("kleene.compiling.automata:judges"),
    compared=("automaton", "network", "automata-lib"),
    whole=late("kleene.compiling.automata:extracted_difference"),
    extractor=late("kleene.explaining.automata.extraction:extract"),
    picture=late("kleene.viewing:state_diagram"),
    smallest=lambda automaton: automaton.minimise(),
    torch=late("kleene.machines.rnn.pytorch:rnn_parts"),
    watched=late("kleene.watching.states:word_parts"),
    hider=late("kleene.groundtruth.recurrent:hide_recurrent"),
)
TURING_MACHINES = Kind(
    "Turing machine",
    program="kleene.programs.turing.machine:TuringMachine",
    machine="kleene.machines.turing_rnn.turing_rnn:TuringRNN",
    prefixes=("tm:",),
    shelf=late("kleene.programs.turing.library:entries"),
    spelled=late("kleene.programs.turing.library:spelled"),
    files=(".jff", ".tm"),
    noun="machine",
    read=late("kleene.programs.turing.library:read"),
    telling=late("kleene.programs.turing.library:telling"),
    run_options=("max_steps",),
    editable=("state", "head", "tape"),
    compiler=late("kleene.compiling.turing.compiler:compile_turing"),
    options={"construction": ("compact", "merged"), "dtype": ("exact", "float32", "float64")},
    stated=("construction",),
    sizes=late("kleene.programs.turing.library:sizes"),
    networks=late("kleene.compiling.turing.compiler:networks"),
    inputs=late("kleene.compiling.turing.compiler:inputs"),
    judges=late("kleene.compiling.turing.compiler:judges"),
    compared=("machine", "network"),
    limits={"max_steps": 2_000},
    extractor=late("kleene.explaining.automata.extraction:extract"),  # refuses, with the reason
    picture=late("kleene.viewing:state_diagram"),
    watched=late("kleene.watching.states:tape_parts"),
)
CIRCUITS = Kind(
    "circuit",
    program="kleene.programs.circuits.circuit:Circuit",
    machine="kleene.machines.nram:NRAM",
    prefixes=("", "circuit:"),
    shelf=late("kleene.programs.circuits.library:entries"),
    spelled=late("kleene.programs.circuits.library:spelled"),
    noun="circuit",
    read=late("kleene.programs.circuits.library:read"),
    runner=late("kleene.programs.circuits.library:run"),
    telling=late("kleene.programs.circuits.library:telling"),
    run_options=("steps",),
    editable=("memory", "r[0-9]", "r[0-9][0-9]"),
    compiler=late("kleene.compiling.circuits:compile_circuit"),
    sizes=late("kleene.programs.circuits.library:sizes"),
    inputs=late("kleene.compiling.circuits:inputs"),
    judges=late("kleene.compiling.circuits:judges"),
    compared=("circuit", "network", "independent interpreter"),
    partial=True,
    watched=late("kleene.watching.memories:circuit_parts"),
)

RASP = Kind(  # its networks are Universal Transformers, and are run as those of transformer programs
    "RASP program",
    program="kleene.programs.rasp.program:RaspProgram",
    machine="kleene.machines.transformer.universal_transformer:UniversalTransformer",
    relatives=("kleene.programs.rasp.graph:RASPExpr",),
    adopt=late("kleene.programs.rasp.program:as_program"),
    adoption=("vocab", "max_length", "causal"),
    lowered=lambda program: program.lowered,
    prefixes=("rasp:",),
    shelf=late("kleene.programs.rasp.library:entries"),
    read=late("kleene.programs.rasp.library:read"),
    editable=("*",),
    telling=late("kleene.programs.rasp.library:telling"),
    compiler=late("kleene.compiling.rasp:compile_rasp"),
    options=TRANSFORMERS.options,
    stated=TRANSFORMERS.stated,
    inputs=late("kleene.compiling.rasp:inputs"),
    judges=late("kleene.compiling.rasp:judges"),
    compared=("program", "RASP's own evaluation", "network"),
    partial=True,
    watched=late("kleene.watching.transformers:rasp_parts"),
)


def _counter(name: str, summary: str, example: str) -> Entry:
    return Entry(name, summary, late(f"kleene.machines.rnn.library:{name}"), (example,))


_COUNTERS = (
    _counter("majority_relu", "a network: strictly more 1s than 0s, with three integer ReLU units", "0110111"),
    _counter("majority_slu", "a network: the same with six SLU units over the rationals", "0110111"),
    _counter("a_n_b_n", "a network: as many b as a, after them, with four integer ReLU units", "aaabbb"),
    _counter("dyck1", "a network: balanced brackets of one kind, with three integer ReLU units", "(()())"),
    _counter("two_units", "a network: every word, with two integer SLU units; the example of Theorem 4.6", "abba"),
)
COUNTERS = Kind(  # networks without a program; each is run as the kind above that has its class
    "network",
    machine="kleene.machines.rnn.simple_rnn:SimpleRNN",
    prefixes=("rnn:",),
    shelf=lambda: {entry.name: entry for entry in _COUNTERS},
)

LSTMS, TRANSFORMER_LMS = (
    Kind(
        name,
        machine=machine,
        noun="model",
        read=late("kleene.machines.language:read_sentence"),
        telling=late("kleene.machines.language:tell_next"),
        editable=("hidden.*",) if name == "LSTM" else (),
        watched=late("kleene.watching.sentences:parts"),
        hider=late("kleene.groundtruth.recurrent:hide_recurrent") if name == "LSTM" else None,
    )
    for name, machine in {
        "LSTM": "kleene.machines.lstm.lstm:LSTM",
        "Transformer language model": "kleene.machines.transformer_lm:TransformerLM",
    }.items()
)
TAUGHT_TRANSFORMERS, ENCODERS = (
    Kind(
        name,
        machine=machine,
        noun="network",
        read=late("kleene.programs.alta.console:read"),
        telling=late("kleene.programs.alta.console:telling"),
        streams=lambda network, words: network.residual_streams(words),
        untrained=lambda network, seed: network.untrained(seed),
        watched=late("kleene.watching.transformers:taught_parts"),
    )
    for name, machine in {
        "taught Transformer": "kleene.machines.transformer.shared:SharedTransformer",
        "encoder Transformer": "kleene.machines.transformer.encoder:EncoderTransformer",
    }.items()
)
LEARNED_MLPS = Kind(
    "Transformer with a learned MLP",
    machine="kleene.machines.transformer.learned_mlp:MLPTransformer",
    noun="network",
    read=late("kleene.programs.alta.console:read"),
    telling=late("kleene.programs.alta.console:telling"),
    streams=late("kleene.machines.transformer.streams:learned_streams"),
    untrained=late("kleene.machines.transformer.streams:with_random_mlp"),
    watched=late("kleene.watching.transformers:taught_parts"),
)
ENCODER_DECODERS = Kind(
    "encoder-decoder Transformer",
    machine="kleene.machines.transformer.encoder_decoder:EncoderDecoder",
    noun="network",
    read=late("kleene.machines.language:read_sentence"),
    telling=late("kleene.machines.transformer.encoder_decoder:tell_written"),
)
NTMS = Kind(
    "Neural Turing Machine",
    machine="kleene.machines.ntm.ntm:NTM",
    noun="machine",
    read=late("kleene.machines.ntm.ntm:read_symbols"),
    telling=late("kleene.machines.ntm.ntm:tell_symbols"),
    run_options=("cells",),
    watched=late("kleene.watching.memories:tape_memory_parts"),
)
NEURAL_GPUS = Kind(
    "Neural GPU",
    machine="kleene.machines.neural_gpu:NeuralGPU",
    noun="machine",
    read=late("kleene.machines.ntm.ntm:read_symbols"),
    telling=late("kleene.machines.neural_gpu:tell_answer"),
    run_options=("steps",),
    watched=late("kleene.watching.memories:image_parts"),
)

_ALL = (
    TRANSFORMERS,
    UNROLLED,
    PLAIN_TRANSFORMERS,
    AUTOMATA,
    TURING_MACHINES,
    CIRCUITS,
    RASP,
    COUNTERS,
    LSTMS,
    TRANSFORMER_LMS,
    TAUGHT_TRANSFORMERS,
    LEARNED_MLPS,
    ENCODERS,
    ENCODER_DECODERS,
    NTMS,
    NEURAL_GPUS,
)
_KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}


def register(kind: Kind) -> Kind:
    """Make a kind known to every verb and command; a kind of the same name is replaced."""
    _KINDS[kind.name] = kind
    return kind


def forget(kind: Kind) -> None:
    """Undo `register`."""
    _KINDS.pop(kind.name, None)


def known() -> tuple[Kind, ...]:
    """Every kind, in the order in which they are listed."""
    return tuple(_KINDS.values())


def of(subject: Any) -> Kind:
    """The kind of a program or machine, by its class; a TypeError names the kinds where there is none.

    >>> from kleene.programs.automata import DFA
    >>> of(DFA.from_regex("1*")).name
    'automaton'
    """
    found = find(subject)
    if found is None:
        names = ", ".join(kind.name for kind in known())
        raise TypeError(f"a {type(subject).__name__} is of no kind that Kleene knows; its kinds are {names}")
    return found


def find(subject: Any) -> Kind | None:
    """The kind of a program or machine; None for anything else."""
    for ancestor in _ancestry(subject):
        for kind in known():
            if ancestor in kind.classes:
                return kind
    return None


def adopted(subject: Any) -> Any:
    """The subject, or the program of its kind that a relative stands for, such as a program in ALTA's own classes."""
    return taken(subject, {})[0]


def taken(subject: Any, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The subject as a program of its kind, and the options that are left once it has taken those of its adoption."""
    kind, rest = find(subject), dict(options)
    if kind is None or kind.adopt is None:
        return subject, rest
    found = {name: rest.pop(name) for name in kind.adoption if name in rest}
    given = {name: value for name, value in found.items() if value is not None}
    return (kind.adopt(subject, **given) if given or is_relative(subject) else subject), rest


def is_relative(subject: Any) -> bool:
    """Whether the subject is of a class that its kind's `adopt` turns into a program."""
    kind = find(subject)
    return kind is not None and bool(set(kind.relatives) & set(_ancestry(subject)))


def lowered(subject: Any) -> Any:
    """The program of another kind that computes what a program does, where its kind has one; the subject otherwise."""
    kind = find(subject)
    return subject if kind is None or kind.lowered is None or not kind.is_program(subject) else kind.lowered(subject)
