"""What is typed: command lines that are right, words that are wrong, and what can be done with each kind of file."""

from tests.fuzzing.mutations import TEXTS

# What can be done with a file of each kind; F stands for the file, ~ for a space inside a word. `load` is no command:
# it calls the library's own function for files that no command reads.
NETWORK = """run F 0 1 1 0
run F the man
run F 1 0 --trace
run F 1 2 0 --steps 2 --json
compile F
rules F 1
extract F --max-states 50
extract F -o out.json --minimise
extract F --method lstar --max-states 4
view F 0110 -o out.svg
explain the --model F
check F
certify F --length 5
load F"""
AUTOMATON = """run dfa:F 0110
run dfa:F 01 --trace --json
run dfa:F 0 --compiled
compile dfa:F -o out.safetensors
extract dfa:F
view dfa:F 01 -o out.svg
check dfa:F --samples 2 --max-length 3"""
MACHINE = """run tm:F 11 --max-steps 50
run tm:F 11 --compiled --max-steps 20 --trace
compile tm:F
compile tm:F --construction merged -o out.safetensors
view tm:F -o out.svg"""
SWEPT = """sweep F --dry-run --json
sweep F --store new --minutes 0.00001
sweep F --minutes 0.00001 --shard 1/2 --json"""
STORE = """results store
results store --json
results store --by hidden --csv
results store --pivot hidden,seed --value loss
sweep sweep.toml --store store --minutes 0.00001"""
TRUTHS = """groundtruth show rnn.ends_abb.compiled --folder truths
groundtruth list --folder truths --json
groundtruth build rnn.ends_abb.compiled --folder truths"""
USES = {
    "exact.safetensors": NETWORK,
    "float.safetensors": NETWORK,
    "turing.safetensors": f"{NETWORK}\nrun F 1 1 --max-steps 50\nrun F 1 1 --max-steps 50 --trace --json",
    "transformer.safetensors": f"{NETWORK}\nrun F 1 0 1 --max-layers 5",
    "lstm.safetensors": f"{NETWORK}\nexplain the~man~laughs --model F --focus man --plot out.svg",
    "lm.safetensors": f"{NETWORK}\nexplain the~man --model F --plot out.svg --json",
    "nram.safetensors": f"{NETWORK}\nrun F 1 2 0 --steps 3\nrun F 1 1 --steps 1 --trace",
    "circuit.safetensors": f"{NETWORK}\nrun F 1 3 2 0",
    "ntm.safetensors": NETWORK,
    "neural_gpu.safetensors": NETWORK,
    "rules.safetensors": "load F\nrun F 1",
    "checkpoint.safetensors": "load F\nload F\nrun F 1",
    "automaton.json": AUTOMATON,
    "automaton.dot": AUTOMATON,
    "automaton.jff": f"{AUTOMATON}\nrun F 0110\nview F -o out.jff",
    "machine.jff": f"{MACHINE}\nrun F 11 --max-steps 50\nview F -o out.jff",
    "machine.tm": MACHINE,
    "circuit.nram": "run circuit:F 1 3 2 0\nrun circuit:F 1 1 --steps 4 --trace\ncompile circuit:F",
    "trace.json": "load F",
    "trace.npz": "load F",
    "tree.conllu": "explain --conllu F --plot out.svg\nexplain --conllu F:1 --json\nload F",
    "text.txt": "load F",
    "results.json": "results .\nresults . --json\nresults . --csv\nresults . --pivot hints,density --plot out.svg",
    "tally.json": "check --random 1 --resume F\ncheck --random 2 --resume F --json",
    "program.py": "run F 1 0\ncompile F\nrules F 1\ncheck F --samples 2 --max-length 2\ncertify F --length 4\nwatch F",
    "own.py": "run F:backwards abc\nrun F:counted aab --compiled --vocab abc --max-length 4\nrun F:expression ab",
    "sweep.toml": SWEPT,
    "random.toml": SWEPT,
    "words.txt": "explain parity_relative --train length<=3 --test F --json\nexplain sort --train F --test F",
    "split.json": "explain scan --split F --json\nexplain scan --split F",
    "data/scan/tasks.txt": "explain scan --split split.json\ndata list\ndoctor --json",
    "lessons/odd_a/exercise.md": "exercise list lessons\nexercise hint lessons/odd_a 1\nexercise start lessons/odd_a",
    "store/store.json": STORE,
    "store/rows/a.jsonl": STORE,
    "store/failures/a.jsonl": STORE,
    "store/workers/a.json": STORE,
    "store/packs/a.json": STORE,
    "older/rows/a.jsonl": STORE.replace("store", "older").replace("--older", "--store"),
    "truths/rnn.ends_abb.compiled/card.json": TRUTHS,
    "truths/rnn.ends_abb.compiled/circuit.json": TRUTHS,
    "truths/rnn.ends_abb.compiled/network.safetensors": TRUTHS,
}

# Command lines that are right, and quick.
RIGHT = """list --json
run parity_relative 1 0 1 --trace
run addition 78 45 --max-layers 40
run sort 3 1 2 --json
run dfa:(a|b)*abb aabb --trace --json
run dfa:(a|b)*abb abb --compiled --form live
run tm:bump 11 --max-steps 50
run tm:copy 101 --compiled --max-steps 30 --construction compact
run increment 1 3 2 0 --steps 3
run swap 1 0 2 3
run program.py 1 0 1
run program.py:program 1 --compiled --dtype float64
compile sort -o out.safetensors
compile dfa:tomita_4 --activation slu -o out.safetensors
compile tm:bump --dtype exact --json
compile swap --json
decode addition_decoded 12 30 --tokens 4
decode induction_decoded a b c a --json
rules parity_relative 1 0 1
rules program.py 1
check dfa:ab* --samples 3 --max-length 4 --seed 1
check program.py --samples 2 --max-length 3
check tm:bump --samples 2 --max-length 2
check --random 1 --seed 3 --json
certify program.py --length 6
certify parity_relative --length 10 --dtype float64 --json
extract dfa:a*b --minimise -o out.dot
extract dfa:ab --method lstar --max-states 9 --seed 2 --json
extract rnn:counter --max-states 20
view dfa:(ab)* abab -o out.svg --no-dead
view tm:bump -o out.svg --json
view dfa:tomita_3 --force
explain the~man~laughs --plot out.svg --json
explain the~man~laughs --focus man --step 1 --plot out.svg
explain the~man --heads 2~0 --plot out.svg
explain the~man --method erasure --plot out.svg --json
explain the~man~laughs --sets 0-1;2 --sharing bias=shapley --after a~dog --plot out.svg
results . --json
results . --where hints=none --by seed --csv
results . --pivot hints,density --value loss --plot out.svg
reproduce
teach dfa:tomita_1 --iterations 1 --seeds 1 --hidden 2 --batch 2 --json"""

NUMBERS = ("0", "1", "2", "3", "-1", str(-(10**20)), "9" * 20, "9" * 5000, "1e3", "x", "", "0x10", "1.5", "nan", "٣")
SUBJECTS = r"""parity_relative
addition
sort
increment
dfa:(a|b)*abb
dfa:tomita_4
tm:bump
rnn:nothing
rnn:
tm:
dfa:
circuit:
program.py
program.py:flip
program.py:nothing
a.py:
nowhere.safetensors
.safetensors
dfa:nowhere.json
dfa:.json
tm:x.tm
circuit:x.nram
dfa:[
dfa:a{2,1}
dfa:(((a)
dfa:a{0,99999999}
dfa:[a-é]
dfa:\
dfa:a|
dfa:()
.
/
..
:
::
-
📦
/dev/zero""".splitlines()
SUBJECTS += ["x" * 5000 + ".py", "dfa:" + "(" * 3000, "dfa:" + "a" * 3000]
PLACES = ["out.svg", "out.json", "out.txt", "out.safetensors", ".", "-", "nowhere/out.svg", "program.py/x.svg", "é.svg"]
PLACES += ["", "x" * 300, "a\nb.svg", "/proc/self/nothing.svg"]
VALUES = (*NUMBERS, *NUMBERS, *TEXTS[:-1], "float64", "relu", "last", "compact", "lstar", "paper")
ANYWHERE = ("--help", "--json", "--trace", "--compiled", "--no-such-option", "--", "-o", "--debugger", "--version")

PLACED = ("source", "store", "output", "plot", "resume", "checkpoint", "results", "model", "heads", "conllu", "folder")
# Options that make a command long, or let it wait for somebody.
WITHHELD = ("everything", "full", "workers", "live", "watch", "ray", "random_programs")
# What these do when all is well takes minutes: they get bad words alone.
LONG = ("demo", "bench", "judge", "reproduce", "teach", "sweep", "groundtruth build")
