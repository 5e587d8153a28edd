"""Pages are what their templates give, and a template that asks for what no file has is named with its line."""

import pytest

from kleene.errors import ProgramError
from kleene_papers import report
from kleene_papers.claims import claims
from kleene_papers.stored import stored

LONGEST = 3_000  # words of a page of results; details have pages of their own
DETAILS = ("-ntm.md", "-nram.md", "-rules.md", "-english.md", "-details.md")  # pages of further tables
MAIN = [name for name in report.templates() if name.startswith("results/") and not name.endswith(DETAILS)]
MAIN.remove("results/reproduced.md")  # one long table


def test_pages_and_other_files_are_those_of_their_templates():
    assert report.different_pages((), check=True) == []


def test_pictures_show_what_the_stored_results_hold():
    assert report.different_pictures((), check=True) == []


@pytest.mark.parametrize("name", MAIN)
def test_a_page_of_results_is_as_long_as_a_results_section(name):
    assert len((report.DOCS / name).read_text().split()) <= LONGEST


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('a\nb {{ r("traces-figure-14").errors.korners }}', "page.md, line 2: .*'korners'"),
        ('a\n\n{{ r("traces-figure-14")["korners"] | num }}', "page.md, line 3: .*korners"),
        ('a\n{{ r("traces-figure-99").errors }}', "page.md, line 2: no stored result 'traces-figure-99'"),
        ('{{ table("traces-figure-4", "nothing") }}', "page.md, line 1: traces-figure-4 has no table 'nothing'"),
        ('{{ picture("traces-figure-99") }}', "page.md, line 1: no study 'traces-figure-99' with a picture"),
        ("a\n{% if %}", "page.md, line 2: "),
        ("a\n\n{{ nothing(1) }}", "page.md, line 3: 'nothing' is undefined"),
        ("{{ 1 | pct(1, 2, 3) }}", "page.md, line 1: "),
    ],
)
def test_a_template_that_cannot_be_filled_is_named_with_its_line(text, told):
    with pytest.raises(ProgramError, match=told):
        report.filled(text, "page.md")


def test_numbers_are_written_as_people_read_them():
    assert report.filled("{{ 0.125 | pct }} {{ 0.125 | pct(1) }} {{ 1234.5 | num }} {{ -0.5 | signed }}") == (
        "12 12.5 1,234 −0.50"
    )
    assert (report.span([3, 7, 5]), report.span([3, 3]), report.mean([1, 2])) == ("3 to 7", "3", 1.5)
    errors = stored("traces-figure-14")["errors"]
    assert report.filled('{{ r("traces-figure-14").errors.corners | num(1) }}') == f"{errors['corners']:.1f}"


def test_a_page_that_was_typed_over_is_found_and_written_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(report, "DOCS", tmp_path)
    monkeypatch.setattr(report, "CHECKOUT", tmp_path)
    (tmp_path / "results").mkdir()
    name = "results/reproduced.md"
    (file,) = report.different_pages([name], check=False)
    file.write_text(file.read_text() + "more")
    assert report.main(["--check", "--page", name]) == 1
    assert f"differs: {name}" in capsys.readouterr().out
    assert report.main(["--page", name]) == 0
    assert report.main(["--check", "--page", name]) == 0


def test_a_picture_of_other_numbers_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "PICTURES", tmp_path)
    (drawn,) = report.different_pictures(["traces-figure-4"], check=False)
    assert report.different_pictures(["traces-figure-4"], check=True) == []
    drawn.write_text(drawn.read_text().replace("read", "reed"))
    assert report.different_pictures(["traces-figure-4"], check=True) == [drawn]


def test_every_table_of_a_page_is_there_once():
    for name in report.templates():
        lines = (report.PAGES / name).read_text().splitlines()
        tables = [line for line in lines if line.startswith("{{ table(")]
        assert len(tables) == len(set(tables)), name


def test_every_reason_of_a_verdict_can_be_filled():
    assert all(claim.reason and "{{" not in claim.reason for claim in claims().values())
