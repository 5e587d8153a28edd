"""The page of a transformer program in a real browser."""

import dataclasses
import re

import pytest

import kleene
from kleene.traces import Trace
from kleene.watching.cutting import Cut
from kleene.watching.page import WatchPage
from kleene.watching.watch import page_of
from tests.machines.samples import shared

pytestmark = pytest.mark.browser
SIZES = {"phone": (390, 844), "laptop": (1366, 850), "wide": (2200, 1200)}


@pytest.fixture(scope="module")
def addition(tmp_path_factory):
    return kleene.watch("addition", ["789", "456"], both=True).save(tmp_path_factory.mktemp("pages") / "addition.html")


@pytest.fixture(scope="module")
def trace():
    return kleene.run("addition", ["789", "456"]).trace


def shown(trace: Trace, step: int) -> dict[str, list[str]]:
    """The rows of the table after a step, as the trace has them."""
    return {
        c.name: [c.show(entry) if step or not c.per_step else "" for entry in trace[c.name][step]]
        for c in trace.channels
    }


def test_the_table_shows_the_trace_at_every_step(tab, addition, trace):
    tab.open(addition)
    for run in ("program", "network"):
        tab.js(
            "[...document.querySelectorAll('.switch button')].find((b) => b.textContent === arguments[0]).click()", run
        )
        tab.press("HOME")
        for step in range(trace.steps + 1):
            assert tab.text(".where") == f"layer {step} / {trace.steps}"
            assert tab.table() == shown(trace, step)
            tab.press("ARROW_RIGHT")


def test_the_page_loads_nothing(tab, addition):
    tab.open(addition)
    assert tab.js("return performance.getEntriesByType('resource').map((e) => e.name)") == []


def test_lit_cells_are_those_that_changed(tab, addition, trace):
    tab.open(addition, "#step=3")
    script = """return [...document.querySelectorAll(".grid .lit")].map((cell) =>
        [cell.closest("tr").querySelector("th span").textContent, cell.closest("td").cellIndex - 1])"""
    changed = [
        [c.name, position]
        for c in trace.channels
        if not c.per_step
        for position in range(9)
        if trace[c.name][3, position] != trace[c.name][2, position]
    ]
    assert changed
    assert tab.js(script) == changed


def test_keys_move_through_the_run(tab, addition):
    tab.open(addition)
    for keys, step in [
        (("ARROW_RIGHT", "ARROW_RIGHT"), 2), (("ARROW_LEFT",), 1), (("END",), 6), (("p",), 5), (("HOME", "n"), 1),
    ]:  # fmt: skip
        tab.press(*keys)
        assert tab.text(".where") == f"layer {step} / 6"
    tab.press("?")
    assert tab.js("return document.querySelector('dialog').open")
    tab.press("ESCAPE")
    assert not tab.js("return document.querySelector('dialog').open")


def test_play_goes_on_to_the_end_and_stops(tab, addition):
    tab.open(addition)
    tab.js("document.querySelector('.speed').value = 40")
    tab.press(" ")
    assert tab.js("return document.querySelector('.play').getAttribute('aria-label')") == "Pause (space)"
    tab.wait("return document.querySelector('.where').textContent === 'layer 6 / 6'")
    tab.wait("return document.querySelector('.play').getAttribute('aria-label') === 'Play (space)'")


def test_the_slider_scrubs(tab, addition, trace):
    tab.open(addition)
    tab.type(".slider", "4")
    assert tab.text(".where") == "layer 4 / 6"
    told = tab.js("return document.querySelector('.slider').getAttribute('aria-valuetext')")
    changes = sum((trace[c.name][4] != trace[c.name][3]).sum() for c in trace.channels if not c.per_step)
    assert told.startswith(f"Layer 4 of 6. {changes} changes: ptr_a at 0 becomes 1; ")


def test_a_step_is_told_to_screen_readers(tab, addition):
    tab.open(addition)
    tab.press("ARROW_RIGHT")
    tab.wait(
        "return document.getElementById('live').textContent.startsWith('Layer 1 of 6. 12 changes: step at 0 becomes 1')"
    )


def test_the_address_is_a_link_to_the_step_and_the_position(tab, addition):
    tab.open(addition, "#step=3&position=6")
    assert tab.text(".where") == "layer 3 / 6"
    assert tab.text("#inspector-title") == "Position 6"
    tab.press("ARROW_RIGHT")
    tab.wait("return location.hash === '#step=4&position=6'")
    tab.js("location.hash = '#step=2&position=1'")
    tab.wait("return document.querySelector('.where').textContent === 'layer 2 / 6'")
    assert tab.text("#inspector-title") == "Position 1"


def test_the_chosen_position_shows_its_source_lines_and_rules(tab, addition):
    tab.open(addition, "#step=3")
    tab.js("document.querySelectorAll('.position')[6].click()")
    lines = [re.sub(r"^\d+", "", line).strip() for line in tab.texts(".line.wrote")]
    assert lines == [
        'z[pointer] = z[f"{pointer}_right"]',
        'z["value_carry"] = total // 10',
        'z["value_out"] = total % 10',
    ]
    rules = dict(zip(tab.texts(".fired code"), tab.texts(".fired .effect")))
    assert rules["ptr_out := ptr_out_right"] == "1 → 0"
    assert rules["value_out := (ptr_a_token + ptr_b_token + value_carry) mod 10"] == "0 → 4"
    assert "ptr_a_token8from position 2" in tab.texts(".reads li")
    assert tab.js("return document.querySelector('.arc.own').getAttribute('d') !== null")


def test_arcs_start_and_end_above_their_positions(tab, addition):
    tab.open(addition, "#step=3&position=6")
    left = tab.js("return document.querySelector('.arcs').getBoundingClientRect().left")
    paths = tab.js("return [...document.querySelectorAll('.arc.own')].map((path) => path.getAttribute('d'))")
    arcs = [re.match(r"M([\d.]+) [\d.]+C\S+ \S+ \S+ \S+ ([\d.]+) ", path) for path in filter(None, paths)]
    found = [[float(x) + left for x in arc.groups()] for arc in arcs]
    at = tab.js("""return [...document.querySelectorAll(".position")].map((button) => {
        const box = button.getBoundingClientRect();
        return box.left + box.width / 2;
    })""")
    assert found[0] == pytest.approx([at[2], at[6]], abs=1)  # ptr_a_token is read from position 2


def test_filters_show_a_part(tab, addition):
    tab.open(addition)
    tab.click("[aria-controls=filters]")
    tab.type("#filter-channels", "ptr_*, step")
    pointers = ["ptr_a", "ptr_b", "ptr_out", "ptr_a_right", "ptr_b_right", "ptr_out_right"]
    assert list(tab.table()) == ["step", *pointers, "ptr_a_token", "ptr_b_token"]
    tab.type("#filter-positions", "2-4")
    assert tab.texts(".position .number") == ["2", "3", "4"]
    tab.type("#filter-steps", "2-4")
    assert tab.text(".where") == "layer 2 / 4"
    tab.press("ESCAPE")
    tab.type("#filter-steps", "nonsense")
    assert tab.js("return document.querySelector('#filter-steps').getAttribute('aria-invalid')") == "true"


def test_a_difference_between_program_and_network_is_marked(tab, tmp_path):
    program = kleene.run("parity_relative", "101")
    network = kleene.run("parity_relative", "101", compiled=True)
    parity = program.trace["parity"].copy()
    parity[2, 3] = 1 - parity[2, 3]
    changed = dataclasses.replace(network.trace, data={**network.trace.data, "parity": parity})
    page = page_of([program, dataclasses.replace(network, trace=changed)], Cut(), "101", program.subject)
    tab.open(page.save(tmp_path / "different.html"), "#step=2")
    assert tab.text(".badge").startswith("≠ step 2, position 3: 'parity' is")
    assert tab.texts(".grid .wrong") == ["1\n0"]
    tab.press("ARROW_RIGHT")
    assert tab.texts(".grid .wrong") == []


def test_a_step_touches_only_the_cells_that_change(tab, addition):
    tab.open(addition, "#step=2&position=0")
    touched = tab.js("""let count = 0;
        const watcher = new MutationObserver((found) => (count += found.length));
        const all = { subtree: true, childList: true, attributes: true, characterData: true };
        watcher.observe(document.querySelector('.grid'), all);
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
        count += watcher.takeRecords().length;
        return [count, document.querySelectorAll('.grid td').length]""")
    assert touched[1] == 126
    assert 0 < touched[0] < 60


def test_the_inside_of_the_network_is_shown_on_demand(tab, addition):
    tab.open(addition, "#step=2")
    assert not tab.js("return document.querySelector('.reveal').open")
    tab.js("document.querySelectorAll('.reveal summary')[0].click()")
    lit = """const map = document.querySelector(".heat");
        if (!map.width) return false;
        const bytes = map.getContext("2d").getImageData(0, 0, map.width, map.height).data;
        const seen = new Set();
        for (let i = 0; i < bytes.length; i += 4) seen.add(bytes.slice(i, i + 3).join());
        return seen.size > 2"""
    tab.wait(lit)
    tab.js("document.querySelectorAll('.card.wide > .reveal')[1].open = true")
    tab.js("document.querySelector('.matrices .reveal').open = true")
    tab.wait("return document.querySelector('.matrices canvas') !== null")


def test_the_theme_follows_the_system_until_it_is_switched(tab, addition):
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = tab.open(addition).js(ground)
    dark = tab.open(addition, dark=True).js(ground)
    assert light != dark
    tab.js("[...document.querySelectorAll('.tools button')][1].click()")
    assert tab.js(ground) == light


@pytest.mark.parametrize("size", SIZES)
def test_the_page_fits_its_window(tab, addition, size):
    tab.open(addition, "#step=3", size=SIZES[size])
    assert tab.js("return document.documentElement.scrollWidth <= innerWidth")
    sizes = tab.js("return [...document.querySelectorAll('.bar button')].map((b) => [b.offsetWidth, b.offsetHeight])")
    assert min(min(size) for size in sizes) >= 32  # large enough for a thumb


def test_text_of_a_document_never_becomes_markup(tab, tmp_path):
    page = kleene.watch("parity_relative", "10")
    nasty = "<img src=x onerror=\"document.title='caught'\"></script><b>"
    document = dict(page.document) | {"title": nasty, "positions": [nasty] * 3, "input": nasty}
    tab.open(WatchPage(document).save(tmp_path / "nasty.html"))
    assert tab.text("h1") == nasty
    assert tab.texts(".token") == [nasty] * 3
    assert tab.js("return document.querySelectorAll('b, img').length") == 0
    assert tab.js("return document.title") != "caught"


def test_a_notebook_shows_the_page_in_a_frame(tab, tmp_path):
    page = kleene.watch("parity_relative", "10")
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><html data-ready=true>{page._repr_html_()}</html>")
    tab.open(path)
    tab.wait("return document.querySelector('iframe').contentDocument.documentElement.dataset.ready === 'true'")


def test_a_taught_transformer_shows_its_run_and_nothing_that_it_does_not_know(tab, tmp_path):
    network = shared()
    trace = network.run([0, 1, 2])
    tab.open(kleene.watch(network, [0, 1, 2]).save(tmp_path / "taught.html"), "#step=2")
    assert tab.table() == shown(trace, 2)
    assert tab.texts("#inspector-title, .chips, .reveal") == []
