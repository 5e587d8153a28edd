"""The page: one file that loads nothing, in which no text can become markup, and which replaces nothing else."""

import html
import re

import pytest

import kleene
from kleene.errors import InputError
from kleene.watching.bundling import EXPORT, IMPORT, imported, modules, script, text_of
from kleene.watching.document import traces_of
from kleene.watching.page import WatchPage, document_in, embedded
from tests.machines.samples import encoder_decoder

NASTY = "</script><script>alert(1)</script><!-- &amp; \u2028 {{script}} \"'"


def test_the_page_holds_the_document_of_the_run():
    page = kleene.watch("parity_relative", "10110", both=True)
    content = document_in(page.html)
    assert content == page.document
    assert traces_of(content)[0] == kleene.run("parity_relative", "10110").trace


def test_no_text_of_a_document_ends_its_element():
    page = kleene.watch("parity_relative", "10")
    nasty = WatchPage(dict(page.document) | {"title": NASTY, "positions": [NASTY], "input": NASTY})
    assert document_in(nasty.html)["title"] == NASTY
    assert nasty.html.count("<script") == page.html.count("<script") == 2
    assert "<" not in embedded({"title": NASTY, NASTY: [NASTY]})
    assert html.escape(NASTY)[:20] in nasty.html  # in the title of the page
    assert nasty.html.count(script()) == 1


def test_the_page_allows_nothing_but_itself():
    text = kleene.watch("parity_relative", "10").html
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)
    outside = set(re.findall(r"https?://[^\s\"'`]+", text))
    assert outside == {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_scripts_set_text_and_never_markup():
    for name in modules("main.js"):
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert way not in text_of(name), f"{name}: {way}"


def test_every_script_is_in_the_page_once_and_after_what_it_imports():
    found = modules("main.js")
    assert found[-1] == "main.js"
    for place, name in enumerate(found):
        assert set(imported(name)) <= set(found[:place])
    assert not re.findall(r"^(?:import|export)\b", script(), re.MULTILINE)


def test_a_script_takes_only_what_another_exports():
    for name in modules("main.js"):
        for names, up, other in IMPORT.findall(text_of(name)):
            place = f"views/{other}" if name.startswith("views/") and up == "./" else other
            assert set(names.strip("{} ").split(", ")) <= set(EXPORT.findall(text_of(place))), (name, other)


def test_an_ordinary_page_is_small():
    assert len(kleene.watch("addition", ["789", "456"], both=True).html.encode()) < 250_000
    assert len(kleene.watch("scan", "jump twice after walk", both=True).html.encode()) < 250_000


def test_a_page_replaces_a_page_and_no_other_file(tmp_path):
    page = kleene.watch("parity_relative", "10")
    path = tmp_path / "run.html"
    assert page.save(path) == path
    assert page.save(path).read_text() == page.html
    path.write_text("my own page")
    with pytest.raises(InputError, match="is no page of kleene watch"):
        page.save(path)
    assert path.read_text() == "my own page"
    page.save(path, force=True)
    assert document_in(path.read_text()) == page.document


def test_a_notebook_shows_the_page_in_a_frame():
    page = kleene.watch("parity_relative", "10")
    frame = page._repr_html_()
    inside = re.fullmatch(r'<iframe srcdoc="([^"]*)" title="[^"]*" style="[^"]*"></iframe>', frame)
    assert html.unescape(inside[1]) == page.html
    assert repr(page) == "<WatchPage of parity_relative: 2 layers>"


def test_what_has_no_page_is_refused():
    with pytest.raises(InputError, match="encoder-decoder Transformer, and pages show transformer programs"):
        kleene.watch(encoder_decoder(1), "jump")
    with pytest.raises(InputError, match="give one of the two"):
        kleene.watch("addition", "1 2", compiled=True, both=True)
    network = kleene.compile(kleene.run("parity_relative", "1").subject)
    with pytest.raises(InputError, match="is a network already"):
        kleene.watch(network, [2, 1], both=True)
