"""The words of the built-in grammar (`kleene.tasks.grammar`), by class and by what they go with.

Common words come first in each list, because the grammar draws the first ones more often. Irregular forms follow their
word after a slash: `child/children`, `sleep/slept`, `have/had/has`. A noun that only occurs in a compound has its first
part before a plus: `chimney+sweep`.
"""

from dataclasses import dataclass

PEOPLE = (
    "man/men woman/women child/children boy girl teacher student doctor farmer king queen soldier sailor writer "
    "painter singer lawyer judge baker friend neighbor guest cook driver nurse scientist poet thief gardener clerk "
    "chimney+sweep ship+captain shop+owner"
)
ANIMALS = "dog cat horse bird cow pig mouse/mice wolf/wolves fox bear goat duck lion rabbit monkey"
THINGS = (
    "letter book stone picture box key lamp table chair cup knife/knives coat hat ring song story ball rope basket "
    "bottle clock mirror map flag wheel candle shoe bell sword coin"
)
PLACES = (
    "house garden city street river forest school church market field kitchen hill village bridge castle station "
    "island valley tower farm"
)
PARTS = "hand eye heart lung tooth/teeth arm leg ear voice"
MATERIALS = "stone silver wood garden school winter paper village summer market"  # before a noun, as in "stone bridge"
NAMES = "Socrates Anna Peter Mary John Clara Oscar Helen Victor Ruth Plato Irene Hugo Nora Felix Ada"

ADJECTIVES = {
    "person": "old young tall poor rich happy sad clever tired angry kind brave famous gentle sick proud",
    "animal": "small black hungry wild gray quick tame fierce lazy thirsty",
    "thing": "new red heavy broken golden cheap strange empty blue precious wooden round",
    "place": "large quiet dark green distant narrow ancient crowded beautiful cold",
    "part": "strong weak sick sharp good bad soft",
}
NOUNS = {"person": PEOPLE, "animal": ANIMALS, "thing": THINGS, "place": PLACES, "part": PARTS}

# Verbs by the kind of the subject, and of the object where there is one.
INTRANSITIVE = {
    "person": "laugh smile work sing/sang wait dance speak/spoke whisper pray swim/swam",
    "animal": "sleep/slept run/ran jump wait eat/ate drink/drank swim/swam hide/hid",
}
TRANSITIVE = {
    ("person", "person"): "help meet/met visit admire thank know/knew follow praise marry forgive/forgave",
    ("person", "thing"): "find/found carry buy/bought sell/sold break/broke hold/held paint lose/lost open repair",
    ("person", "place"): "leave/left visit love see/saw cross reach defend describe",
    ("person", "animal"): "feed/fed see/saw love ride/rode chase catch/caught",
    ("person", "part"): "have/had/has need lose/lost wash",
    ("animal", "person"): "see/saw follow fear love",
    ("animal", "animal"): "chase fear see/saw bite/bit hunt",
    ("animal", "part"): "have/had/has use",
}
GIVING = "give/gave show send/sent bring/brought lend/lent offer"  # a person, then a thing
SAYING = "say/said think/thought know/knew believe hope claim remember fear"  # that …
WANTING = "want try hope begin/began promise learn"  # to …
MANNER = "quickly slowly quietly often again always gladly soon never sometimes carefully badly"
DEGREES = "very rather quite too"
OPENERS = "today there here now perhaps suddenly"

POSSESSION = "of near from"  # a noun's, before a place
COMPANY = "with without"  # a noun's, before a thing
LOCATION = "in near behind at beyond through"  # a verb's, before a place
MODALS = "will can must may should"
NUMBERS = "two three four five six ten"
SUBORDINATORS = "when because while if although before after"


@dataclass(frozen=True)
class Forms:
    """A noun as (singular, plural), or a verb as (with a singular subject, with a plural one, past).

    `after` is the first part of a compound, such as "chimney" for "sweep".
    """

    singular: str
    plural: str
    past: str = ""
    after: str = ""


def nouns(text: str) -> tuple[Forms, ...]:
    """The forms of the nouns in a list.

    >>> fox, child, sweep = nouns("fox child/children chimney+sweep")
    >>> fox.plural, child.plural, sweep.plural, sweep.after
    ('foxes', 'children', 'sweeps', 'chimney')
    """
    found = []
    for entry in text.split():
        after, _, noun = entry.rpartition("+")
        word, _, irregular = noun.partition("/")
        found.append(Forms(word, irregular or with_s(word), after=after))
    return tuple(found)


def verbs(text: str) -> tuple[Forms, ...]:
    """The forms of the verbs in a list; the plural form is also the infinitive.

    >>> carry, sing, have = verbs("carry sing/sang have/had/has")
    >>> carry.singular, carry.past, sing.past, have.past, have.singular
    ('carries', 'carried', 'sang', 'had', 'has')
    """
    found = []
    for entry in text.split():
        word, *irregular = entry.split("/")
        past, singular = irregular + [with_ed(word), with_s(word)][len(irregular) :]
        found.append(Forms(singular, word, past))
    return tuple(found)


def with_s(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if _ends_in_consonant_y(word) else word + "s"


def with_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    return word[:-1] + "ied" if _ends_in_consonant_y(word) else word + "ed"


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in "aeiou"
