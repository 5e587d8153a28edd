"""Words that mean something: programs and networks of every kind, their inputs, and a value for each parameter.

In `OTHERS`, ~ lies between the words of an input.
"""

from functools import cache

from kleene.running import listed

# What can be run, with an input: the names of `kleene list` come first, and files and expressions are these.
OTHERS = {
    "transformer program": """program.py 1~0~1
program.py:program 0~1
program.py:flip 1""",
    "automaton": """dfa:(a|b)*abb aabb
dfa:a{2,4}b? aab
dfa:[ab]+ ba
dfa:automaton.json 0110
dfa:automaton.dot 11
dfa:automaton.jff 010
automaton.jff 0110
own.py:expression ab""",
    "Turing machine": """tm:machine.tm 11
machine.jff 1111
tm:machine.jff 11""",
    "circuit": "circuit:circuit.nram 1~3~2~0",
    "RASP program": """own.py:backwards abc
own.py:counted aab""",
    "network": """exact.safetensors 0110
float.safetensors the~man
turing.safetensors 11
transformer.safetensors 1~0~1
lstm.safetensors the~man~laughs
lm.safetensors the~man
nram.safetensors 1~2~0
circuit.safetensors 1~3~2~0
ntm.safetensors 1~0
neural_gpu.safetensors 1~2""",
}
DECODED = (("addition_decoded", ("12", "30")), ("induction_decoded", ("a", "b", "c", "a")))
KINDS = tuple(OTHERS)
TRANSFORMER, AUTOMATON, TURING, CIRCUIT, RASP, NETWORK = KINDS
ALL = KINDS

# Which kinds a command takes; the others answer with an error, which is drawn more rarely.
TAKEN = {
    "view": (AUTOMATON, TURING, CIRCUIT),
    "rules": (TRANSFORMER, RASP, NETWORK),
    "certify": (TRANSFORMER, RASP, NETWORK),
    "extract": (NETWORK, AUTOMATON),
    "explain": (TRANSFORMER, RASP),
    "compile": (TRANSFORMER, AUTOMATON, TURING, CIRCUIT, RASP),
    "export": (TRANSFORMER, AUTOMATON, RASP),
}

# Options that mean something for some kinds alone.
MEANT_FOR = {
    "rules": (TRANSFORMER, RASP),
    "activation": (TRANSFORMER, AUTOMATON, RASP),
    "attention_scalar": (TRANSFORMER, RASP),
    "machine": (AUTOMATON,),
    "form": (AUTOMATON,),
    "construction": (TURING,),
    "layers": (TRANSFORMER, RASP),
    "depth": (TRANSFORMER, RASP),
    "vocab": (RASP,),
    "max_length": (RASP, TRANSFORMER),
    "causal": (RASP,),
    "max_layers": (TRANSFORMER, RASP),
    "max_steps": (TURING,),
    "against": (NETWORK,),
    "dtype": (TRANSFORMER, AUTOMATON, TURING, RASP),
    "inputs": (TRANSFORMER,),
    "reference": (TRANSFORMER,),
}

# Values by the name of a parameter, or of command and parameter, with a bar between two of them.
VALUES = r"""
activation: clipped | relu | slu
after: a dog | the man
against: parity_relative | program.py | rasp:hist
answer: last | all
at: hidden | logits
attention_scalar: 100 | 1 | 0.5
by: seed | hints | hints,density | nothing
channels: token,ptr_* | * | state | token
checkpoint: check.safetensors | checkpoint.safetensors
clip: 1 | 0.5
conllu: tree.conllu | tree.conllu:1
construction: compact | merged
controller: 4,4
corpus: text.txt
decay: 0.5
density: 1 | 0.5 | 0,0.5
dropout: 0 | 0.5
dtype: float32 | float64 | bfloat16 | exact
edit: bit@1,0=1 | parity@*,*=1 | state@0=q0 | head@1=2 | token@0,0=from:10 | right@1-2,0=0
families: compiled RNN | taught LSTM
file: exact.safetensors
sweep file: sweep.toml | random.toml
files: even_a.py | even_a.py other/even_a.py
focus: man | the man | 0 | 0-1 | 1,2
folder: kept | store | results
groundtruth folder: truths | other
exercise list folder: lessons
form: live | textbook
heads: 2 0 | 2 3 0 | heads.svg
hints: none | all | states | read
inputs: own.py:inputs
layers: shared | unrolled
lengths: 2 | 1,3
machine: rnn | lstm
teach machine: rnn | lstm | ntm | nram | neural_gpu | transformer | encoder | mlp
extract method: reachable | textbook | lstar
explain method: interdependence | erasure | gradient | information
teach method: interchange | hints | strict hints | none
methods: erasure | di_hidden | eap | acdc | own.py:measure
minutes: 0.00001
model: lstm.safetensors | lm.safetensors | float.safetensors | english | grammar
teach model: best.safetensors
reproduce model: lstm.safetensors
data get name: scan | ud-ewt | wikitext-2
exercise grade name: even_a | lessons/odd_a
exercise hint name: even_a | lessons/odd_a | even_a.py
exercise start name: even_a | rotate | flip | lessons/odd_a
groundtruth build name: rnn.ends_abb.compiled | rnn.ends_abb.hidden | rasp.reverse.compiled
groundtruth show name: rnn.ends_abb.compiled | rasp.reverse.taught | rnn.ends_abb
reproduce name: alta-figure-2 | alta-table-2 | traces-figure-9a | traces-figure-10 | traces
names: cold
networks: rasp.hist.hidden
noise: 0 | 0.1
of: interactions | circuits
optimiser: adam | adafactor
output: out.svg | out.html | out.json | out.safetensors | out.jff | out.dot | out.pdf | out.png | new/out.svg
compile output: out.safetensors | new/out.safetensors
export output: exported
piece: 1/2
pivot: hints,density | hidden,seed | hints,hidden
plot: out.svg | out.html | out.png
positions: 0-1 | 0-0 | 1-
teach positions: relative | absolute
explain program: parity_relative | program.py
programs: rasp:hist | parity_relative
rate: 0.01
ray: 127.0.0.1:1
reference: own.py:reference
results: kept | results
resume: tally.json | new.json
rules: compact | paper
saturation: 0 | 0.01
seconds: 0.1
exercise grade seconds: 5 | 10
sets: the;man | 0-1;2 | the man;laughs
shard: 1/1 | 1/2 | 2/2
strict: 0 | 0.4
swaps: 0 | 1
sharing: bias=shapley | start=relevant | bias_bias=never,output_gate=decomposed | interactions=rel-rel+rel-irrel
source: mirror | http://127.0.0.1:9/ | published
split: simple | length | mcd:0 | split.json
step: 0 | 1 | last
steps: 0-1 | 2-3 | 1-
circuit steps: 3
store: store | new_store
strength: 1 | 0.5,2
task: dfa:tomita_1 | dfa:(a|b)*abb | dfa:ab | text:text.txt | increment | swap | circuit:circuit.nram
taught: transformer.safetensors | truths
test: length<=4 | ones<=3 | words.txt
text: the man laughs | the man | a dog sleeps
to: torch
train: length<=3 | ones<=2 | words.txt
value: generalises | loss | accuracy
variant: paper | on
vocab: abc | 1,2,10 | ()
where: hints=none | density>=0.1 | hints!=none | task=copy,reverse | hidden<4
word: aabb | 0110 | 11
"""

# Whole numbers for options whose larger values make a command long; the others take small ones within their bounds.
SMALL = {
    "tokens": (1, 2, 3),
    "samples": (1, 2, 5),
    "max_length": (1, 2, 3, 4),
    "max_layers": (1, 5, 30),
    "max_steps": (1, 20, 50),
    "max_states": (2, 9, 30),
    "random_programs": (0, 1, 2),
    "words": (4, 5),
    "length": (3, 4),
    "depth": (1, 2, 4),
    "seeds": (1,),
    "judge seeds": (0,),
    "hide": (0,),
    "iterations": (1,),
    "batch": (2,),
    "hidden": (2, 3),
    "width": (2, 4),
    "longest": (4, 6),
    "decoder": (2,),
    "workers": (1,),
    "test_every": (1,),
    "vocabulary": (3, 10),
    "layer": (0, 1),
    "port": (8,),
}
# What a command does with these of its options; those of one line are given together with its first ones.
MODES = {
    "explain": (
        "model method corpus at step layer focus sets sharing after heads conllu plot",
        "train test split inputs samples seed constraints taught",
        "program test samples seed inputs",
    ),
    "judge": ("methods of families programs networks taught seed output",),  # without these it judges all there is
}
FIRST = {
    MODES["judge"][0]: 3,
    "train test split inputs samples seed constraints taught": 2,
    "program test samples seed inputs": 2,
}
# Options that make a command long, or let it run until somebody ends it.
NEVER = {("check", "everything"), ("check", "workers"), ("watch", "live"), ("teach", "watch"), ("reproduce", "run")}
NEVER |= {("reproduce", "name"), ("reproduce", "size"), ("bench", "names"), ("sweep", "ray"), ("explain", "teach")}
# Options that bound a command which would take minutes.
BOUNDS = {
    "teach": "--iterations 1 --seeds 1 --batch 2",
    "sweep": "--minutes 0.00001",
    "judge": "--words 4 --length 3 --seeds 0 --hide 0",
    "check": "--samples 2 --max-length 2",
    "data get": "--from mirror",
    "certify": "--length 3",
}


@cache
def subjects() -> dict[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    """What can be run, with the words of an input, by its kind."""
    found = {kind: [_pair(line) for line in lines.splitlines()] for kind, lines in OTHERS.items()}
    for entry in listed():
        found[entry["kind"]].append((entry["name"], tuple(entry["example"])))
    return {kind: tuple(pairs) for kind, pairs in found.items()}


def _pair(line: str) -> tuple[str, tuple[str, ...]]:
    name, _, words = line.partition(" ")
    return name, tuple(words.split("~"))


@cache
def values() -> dict[str, tuple[str, ...]]:
    """The values of each parameter that takes text or a number with a fraction."""
    pairs = (line.split(": ", 1) for line in VALUES.strip().splitlines())
    return {name: tuple(text.split(" | ")) for name, text in pairs}
