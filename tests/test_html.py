"""Every object that a verb returns shows itself in a notebook, and its names never become markup."""

import ast
import csv
import io
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import kleene
import kleene_papers
from kleene.compiling.alta.attacks import Attack
from kleene.compiling.alta.certificates import Certificate
from kleene.compiling.alta.conditions import Condition
from kleene.compiling.alta.writing import Written
from kleene.compiling.checking import CheckReport
from kleene.explaining.programs.anatomy import anatomy
from kleene.explaining.programs.learnable import learnable
from kleene.explaining.words.explained import Explained
from kleene.programs.alta import program_spec, relative_v, var
from kleene.programs.automata import DFA
from kleene.running import Compiled
from kleene.traces import Channel, Trace, TraceBatch
from kleene.traces.markup import Table, html_facts, html_table
from kleene_papers.reproduce import Reproduced
from kleene_papers.stored import Result

EVIL = "<script>alert(1)</script>"
# Parts of what a verb returns, which their whole shows; and a picture, which is SVG in a notebook.
PARTS = {"Result", "TraceAgreement", "VariableReading", "Mean", "Group", "Picture", "Interval", "MethodVerdict"}
PARTS |= {"AgreementCount", "Alignment", "BasisMap", "Carrier", "Claim", "Compression", "Exercise"}
PARTS |= {"Likeness", "ProgramFile", "StateCircuit", "UnitMap"}
PARTS |= {"Examination", "Fetched", "Holding"}  # of doctor and data, which know no room and so no markup


def evil_program():
    def mlp(z):
        z[EVIL] = z["left<b>"]

    return program_spec(
        {EVIL: var(2, input_init_fn=lambda token: token)}, {"left<b>": relative_v(EVIL, 0)}, mlp, EVIL, 2, name=EVIL
    )


def evil_batch():
    return TraceBatch(
        (Channel(EVIL, "category", 2),), {EVIL: np.array([[[1]]])}, np.array([0]), np.array([1]), np.array([True]), EVIL
    )


OBJECTS = {
    "program": evil_program,
    "its anatomy": lambda: anatomy(evil_program(), [[1, 0]]),
    "its machine": lambda: kleene.compile(evil_program()),
    "its run": lambda: kleene.run(evil_program(), [1, 0]),
    "its traces": evil_batch,
    "learnability": lambda: learnable(evil_program(), [[1, 0], [0, 1]], [[1, 1]]),
    "minimal": lambda: learnable(evil_program(), [[1, 0], [0, 1]], [[1, 1]]).minimal,
    "trace": lambda: Trace((Channel(EVIL, "category", 1, labels=(EVIL,)),), {EVIL: np.array([[0]])}),
    "automaton": lambda: DFA.from_table([(EVIL, EVIL, EVIL)], start=EVIL, accept=[EVIL]),
    "certificate": lambda: Certificate(EVIL, "float32", 3, (Condition(EVIL, False, EVIL),)),
    "check": lambda: CheckReport(EVIL, 1, 2, EVIL, 0.1, compared=(EVIL,)),
    "attack": lambda: Attack(EVIL, "float32", 3, True, (EVIL,), {EVIL: 3}),
    "written": lambda: Written(EVIL, [1], EVIL, [1], [1], True, True, 0.1),
    "compiled": lambda: Compiled(None, {"program": EVIL, EVIL: EVIL}),
    "explained": lambda: Explained([EVIL, "b"], [0], np.eye(2), {"method": "interdependence"}),
    "reproduced": lambda: Reproduced("x", None, None, (Result("x", "x", EVIL, summary=[EVIL]),), Path("nowhere")),
}


class Tags(HTMLParser):
    """The tags of a text, and the letters between them."""

    def __init__(self, text: str):
        super().__init__()
        self.found, self.text = set(), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("which", OBJECTS)
def test_every_object_shows_itself_with_its_names_escaped_and_is_viewed_as_a_page(which, tmp_path):
    subject = OBJECTS[which]()
    shown = Tags(subject._repr_html_())
    assert shown.found
    assert not shown.found & {"script", "b"}
    kleene.view(subject, path=tmp_path / "page.html")
    assert "alert" in (tmp_path / "page.html").read_text()
    if which != "its run":  # the page of a run has its own script, and tests of its own
        assert not Tags((tmp_path / "page.html").read_text()).found & {"script", "b"}


def test_a_table_is_written_by_one_function():
    assert html_table([("a", "b"), (1234, EVIL)], caption="<c>") == (
        "<table><caption>&lt;c&gt;</caption><tr><th>a</th><th>b</th></tr>"
        "<tr><td>1,234</td><td>&lt;script&gt;alert(1)&lt;/script&gt;</td></tr></table>"
    )
    assert "more" in html_table([["a"], *[["1"]] * 61])
    assert "more" not in html_table([["a"], *[["1"]] * 61], most=None)
    assert html_facts({EVIL: True}).endswith("</th><td>True</td></tr></table>")


def test_a_table_has_the_same_cells_in_every_form_each_escaped_as_it_needs():
    table = Table(["a", EVIL], [["[ab] <b>", "x|y, **z**\n`"]], "[t]")
    assert str(table).startswith("[t]\n")
    assert "[ab] <b>" in str(table)
    assert "x|y, **z**" in str(table)
    shown = Tags(table._repr_html_())
    assert shown.text == f"[t]a{EVIL}[ab] <b>x|y, **z**\n`"
    assert shown.found == {"table", "caption", "tr", "td", "th"}
    assert table.markdown() == f"| a | {EVIL} |\n| --- | --- |\n| [ab] <b> | x\\|y, **z**<br>` |"
    assert list(csv.reader(io.StringIO(table.csv()))) == [[*table.head], *table.rows]
    assert table.as_json()["rows"] == table.rows
    assert Table(["`a`"], [["**b**"]], marked=True).html() == html_table([["a"], ["b"]])


def test_csv_has_no_word_for_what_is_missing_and_names_infinities():
    records = [{"a": True, "b": float("nan")}, {"a": None, "c": float("-inf")}]
    assert Table.of_records(records).csv() == "a,c,b\ntrue,,\n,-Infinity,\n"


def test_a_report_is_a_page_with_its_picture_and_its_tables(tmp_path):
    report = learnable(evil_program(), [[1, 0], [0, 1]], [[1, 1], [1, 0, 1]])
    page = Tags(report.draw(tmp_path / "report.html").read_text())
    assert {"svg", "table", "circle"} <= page.found
    assert "script" not in page.found
    assert "minimal version: as the program: length 2: " in page.text


def classes() -> dict[str, ast.ClassDef]:
    """Every class at the top of a module of the house, and of the papers."""
    sources = [Path(str(package.__file__)).parent for package in (kleene, kleene_papers)]
    trees = (ast.parse(path.read_text()) for source in sources for path in sorted(source.rglob("*.py")))
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


def test_what_is_plain_data_for_programs_is_shown_to_people_too():
    known = classes()

    def has(name: str, method: str) -> bool:
        node = known.get(name)
        if node is None:
            return False
        own = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        bases = (ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases)
        return method in own or any(has(base, method) for base in bases)

    told = {name for name in known if has(name, "as_json")}
    assert len(told) > 30
    assert {name for name in told if not has(name, "_repr_html_")} == PARTS


def test_a_program_is_shown_on_the_command_line_as_a_page(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("view", "parity_relative", "-o", "p.html").out == "wrote p.html\n"
    assert run("view", "parity_relative").out == Path("p.html").read_text() + "\n"
    assert run("view", "parity_relative", "--json").json == {"file": "program.html"}
    asked = ("explain", "parity_sum_modulo", "--train", "length<=3", "--test", "length<=4", "-o", "l.html")
    assert run(*asked).out.endswith("wrote l.html\n")
    page = Tags(Path("l.html").read_text())
    assert {"svg", "circle", "table"} <= page.found
    assert "minimal version: as the program: length 4: 100 (right, %)" in page.text
