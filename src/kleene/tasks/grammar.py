"""English-like sentences with their dependency trees, from a grammar that needs no data.

Subjects agree with verbs in number, across prepositional phrases and relative clauses. Verbs select their objects
("feed" an animal, "repair" a thing), so that the two words of an edge predict each other. Clauses and phrases are
joined and nested, so that words close in the tree may be far apart in the sentence, and the reverse. Relations are
those of Universal Dependencies. All words but names are in lower case.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Literal

from kleene.errors import InputError
from kleene.tasks import lexicon
from kleene.tasks.lexicon import Forms
from kleene.tasks.treebanks import Sentence

SHORTEST, LONGEST = 3, 30  # words in a sentence, the full stop included
DEPTH = 2  # how deep phrases and clauses nest

Kind = Literal["person", "animal", "thing", "place", "part"]
Role = Literal["subject", "object"]
Pending = list[tuple[int, str]]  # words whose head has not been written yet, with their relations

NOUNS = {kind: lexicon.nouns(words) for kind, words in lexicon.NOUNS.items()}
ADJECTIVES = {kind: words.split() for kind, words in lexicon.ADJECTIVES.items()}
MATERIALS, NAMES = lexicon.MATERIALS.split(), lexicon.NAMES.split()
INTRANSITIVE = {kind: lexicon.verbs(words) for kind, words in lexicon.INTRANSITIVE.items()}
TRANSITIVE = {kinds: lexicon.verbs(words) for kinds, words in lexicon.TRANSITIVE.items()}
GIVING, SAYING, WANTING = map(lexicon.verbs, (lexicon.GIVING, lexicon.SAYING, lexicon.WANTING))
MANNER, DEGREES, OPENERS = lexicon.MANNER.split(), lexicon.DEGREES.split(), lexicon.OPENERS.split()
POSSESSION, COMPANY, LOCATION = lexicon.POSSESSION.split(), lexicon.COMPANY.split(), lexicon.LOCATION.split()
MODALS, NUMBERS, SUBORDINATORS = lexicon.MODALS.split(), lexicon.NUMBERS.split(), lexicon.SUBORDINATORS.split()
DETERMINERS = {False: ["the", "a", "this", "every"], True: ["the", "some", "these", "many"]}  # by whether plural
OWNERS = ["his", "her", "their"]
PRONOUNS = {("subject", False): ["he", "she"], ("subject", True): ["they", "we"],
            ("object", False): ["him", "her"], ("object", True): ["them", "us"]}  # fmt: skip
BE = Forms("is", "are"), Forms("was", "were")  # now, and in the past
DO = Forms("does", "do", "did")


def sentences(count: int, *, seed: int = 0) -> list[Sentence]:
    """`count` random sentences. With the same seed, a longer list begins with the shorter one.

    >>> for sentence in sentences(2, seed=7):
    ...     print(*sentence.words)
    here the dog with every book that Socrates found jumped and was black .
    three lawyers will swim near many hills .
    """
    if count < 0:
        raise InputError(f"{count} sentences were asked for; ask for 0 or more")
    return list(islice(endless(seed), count))


def text(words: int, *, seed: int = 0) -> str:
    """A text to teach a language model with: whole sentences, one per line, of at least `words` words."""
    if words < 1:
        raise InputError(f"a text of {words} words was asked for; ask for 1 or more")
    lines = []
    for sentence in endless(seed):
        lines.append(" ".join(sentence.words))
        words -= len(sentence)
        if words <= 0:
            return "\n".join(lines) + "\n"
    raise AssertionError("endless() ended")


def endless(seed: int = 0) -> Iterator[Sentence]:
    """Random sentences without end."""
    random = Random(seed)
    while True:
        writer = _Writer(random)
        writer.sentence()
        if SHORTEST <= len(writer.words) <= LONGEST:
            yield writer.done()


class _Writer:
    """Writes one sentence from left to right. A method that writes a phrase returns the position of its head."""

    def __init__(self, random: Random):
        self.chance = random.random
        self.words: list[str] = []
        self.classes: list[str] = []
        self.heads: list[int] = []
        self.relations: list[str] = []
        self.past = self.chance() < 0.45

    def done(self) -> Sentence:
        return Sentence(tuple(self.words), tuple(self.heads), tuple(self.classes), tuple(self.relations))

    def pick(self, choices: Sequence):
        """One of the choices, the first ones more often, because some words of a language are common and some rare."""
        return choices[int(len(choices) * self.chance() ** 2)]

    def put(self, word: str, word_class: str) -> int:
        self.words.append(word)
        self.classes.append(word_class)
        self.heads.append(0)
        self.relations.append("root")
        return len(self.words) - 1

    def hang(self, head: int, *dependents: tuple[int, str]) -> int:
        for place, relation in dependents:
            self.heads[place], self.relations[place] = head + 1, relation
        return head

    def sentence(self) -> None:
        roll = self.chance()
        if roll < 0.12:
            mark = self.put(self.pick(SUBORDINATORS), "SCONJ")
            aside = self.hang(self.clause(DEPTH - 1), (mark, "mark"))
            comma = self.put(",", "PUNCT")
            root = self.hang(self.clause(DEPTH), (aside, "advcl"), (comma, "punct"))
        elif roll < 0.20:
            opener = self.put(self.pick(OPENERS), "ADV")
            root = self.hang(self.clause(DEPTH), (opener, "advmod"))
        else:
            root = self.clause(DEPTH)
        if roll > 0.86:
            joined = [(self.put(",", "PUNCT"), "punct"), (self.put(self.pick(("and", "but", "or")), "CCONJ"), "cc")]
            self.hang(root, (self.hang(self.clause(DEPTH - 1), *joined), "conj"))
        elif roll > 0.78:
            mark = self.put(self.pick(SUBORDINATORS), "SCONJ")
            self.hang(root, (self.hang(self.clause(DEPTH - 1), (mark, "mark")), "advcl"))
        self.hang(root, (self.put(".", "PUNCT"), "punct"))

    def clause(self, depth: int) -> int:
        kind: Kind = "animal" if self.chance() < 0.3 else "person"
        subject, plural = self.noun_phrase(kind, depth, "subject")
        return self.hang(self.predicate(kind, plural, depth), (subject, "nsubj"))

    def predicate(self, kind: Kind, plural: bool, depth: int, *, infinitive: bool = False) -> int:
        """A verb that agrees with its subject, and what the verb takes; or a form of "be" and an adjective."""
        roll = self.chance()
        if roll < 0.15 and not infinitive:
            return self.description(kind, plural)
        if roll < 0.40:
            head = self.verb(self.pick(INTRANSITIVE[kind]), plural, infinitive)
        elif kind == "animal" or roll < 0.78:
            head = self.transitive(kind, plural, depth, infinitive)
        elif roll < 0.86:
            head = self.verb(self.pick(GIVING), plural, infinitive)
            receiver, _ = self.noun_phrase("person", 0, "object")
            self.hang(head, (receiver, "iobj"), (self.noun_phrase("thing", depth - 1, "object")[0], "obj"))
        elif roll < 0.93 and depth > 0:
            head = self.verb(self.pick(SAYING), plural, infinitive)
            mark = self.put("that", "SCONJ")
            return self.hang(head, (self.hang(self.clause(depth - 1), (mark, "mark")), "ccomp"))
        else:
            head = self.verb(self.pick(WANTING), plural, infinitive)
            mark = self.put("to", "PART")
            wanted = self.predicate(kind, plural, depth - 1, infinitive=True)
            return self.hang(head, (self.hang(wanted, (mark, "mark")), "xcomp"))
        self.circumstances(head, kind, plural, depth, infinitive)
        return head

    def description(self, kind: Kind, plural: bool) -> int:
        forms = BE[self.past]
        before: Pending = [(self.put(forms.plural if plural else forms.singular, "AUX"), "cop")]
        if self.chance() < 0.2:
            before.append((self.put("not", "PART"), "advmod"))
        degree = self.put(self.pick(DEGREES), "ADV") if self.chance() < 0.3 else None
        head = self.hang(self.put(self.pick(ADJECTIVES[kind]), "ADJ"), *before)
        return head if degree is None else self.hang(head, (degree, "advmod"))

    def transitive(self, kind: Kind, plural: bool, depth: int, infinitive: bool) -> int:
        taken: Kind = self.pick([taken for taker, taken in TRANSITIVE if taker == kind])
        head = self.verb(self.pick(TRANSITIVE[kind, taken]), plural, infinitive)
        return self.hang(head, (self.noun_phrase(taken, depth - 1, "object")[0], "obj"))

    def circumstances(self, head: int, kind: Kind, plural: bool, depth: int, infinitive: bool) -> None:
        """How and where something is done, and what else is done."""
        if self.chance() < 0.2:
            self.hang(head, (self.put(self.pick(MANNER), "ADV"), "advmod"))
        if self.chance() < 0.3:
            self.hang(head, (self.prepositional(LOCATION, "place", depth - 1), "obl"))
        if depth == DEPTH and self.chance() < 0.1:
            joint = self.put("and", "CCONJ")
            self.hang(head, (self.hang(self.predicate(kind, plural, 0, infinitive=infinitive), (joint, "cc")), "conj"))

    def verb(self, forms: Forms, plural: bool, infinitive: bool) -> int:
        roll = self.chance()
        if infinitive or roll < 0.2:
            helpers: Pending = []
            if not infinitive and roll < 0.12:
                helpers = [(self.put(self.pick(MODALS), "AUX"), "aux")]
            elif not infinitive:
                helpers = [(self.put(self.finite(DO, plural), "AUX"), "aux"), (self.put("not", "PART"), "advmod")]
            return self.hang(self.put(forms.plural, "VERB"), *helpers)
        return self.put(self.finite(forms, plural), "VERB")

    def finite(self, forms: Forms, plural: bool) -> str:
        return forms.past if self.past else forms.plural if plural else forms.singular

    def noun_phrase(self, kind: Kind, depth: int, role: Role) -> tuple[int, bool]:
        """The head, and whether the phrase is plural."""
        plural = self.chance() < (0.7 if kind == "part" else 0.4)
        roll = self.chance()
        if kind == "person" and roll < 0.12:
            return self.put(self.pick(PRONOUNS[role, plural]), "PRON"), plural
        if kind == "person" and roll < 0.3:
            return self.put(self.pick(NAMES), "PROPN"), False
        head = self.common_noun(kind, plural, depth)
        if roll > 0.93 and depth > 0:
            joint = self.put("and", "CCONJ")
            other = self.common_noun(kind, self.chance() < 0.4, 0)
            return self.hang(head, (self.hang(other, (joint, "cc")), "conj")), True
        return head, plural

    def common_noun(self, kind: Kind, plural: bool, depth: int) -> int:
        start, forms = len(self.words), self.pick(NOUNS[kind])
        before = self.determiner(plural)
        before += self.adjectives(kind, 0.5 if kind == "part" else 0.25)
        if kind in ("thing", "place") and self.chance() < 0.15:
            before.append((self.put(self.pick(MATERIALS), "NOUN"), "compound"))
        if forms.after:
            before.append((self.put(forms.after, "NOUN"), "compound"))
        head = self.hang(self.put(forms.plural if plural else forms.singular, "NOUN"), *before)
        if self.words[start] == "a" and self.words[start + 1][0] in "aeiou":
            self.words[start] = "an"
        if depth > 0 and kind != "part" and self.chance() < 0.22:
            prepositions, other = (COMPANY, "thing") if self.chance() < 0.3 else (POSSESSION, "place")
            self.hang(head, (self.prepositional(prepositions, other, depth - 1), "nmod"))
        if depth > 0 and self.chance() < 0.22:
            self.hang(head, (self.relative_clause(kind, plural, depth - 1), "acl:relcl"))
        return head

    def adjectives(self, kind: Kind, chance: float) -> Pending:
        """Three at most, none of them twice."""
        chosen: list[str] = []
        while self.chance() < chance and len(chosen) < 3:
            chosen.append(self.pick(ADJECTIVES[kind]))
        return [(self.put(word, "ADJ"), "amod") for word in dict.fromkeys(chosen)]

    def determiner(self, plural: bool) -> Pending:
        roll = self.chance()
        if roll < 0.15:
            return [(self.put(self.pick(OWNERS), "PRON"), "nmod:poss")]
        if roll < 0.25 and plural:
            return [(self.put(self.pick(NUMBERS), "NUM"), "nummod")]
        if roll < 0.45 and plural:
            return []
        return [(self.put(self.pick(DETERMINERS[plural]), "DET"), "det")]

    def prepositional(self, prepositions: Sequence[str], kind: Kind, depth: int) -> int:
        case = self.put(self.pick(prepositions), "ADP")
        return self.hang(self.noun_phrase(kind, depth, "object")[0], (case, "case"))

    def relative_clause(self, kind: Kind, plural: bool, depth: int) -> int:
        """What the noun does ("who feeds the dog"), or what somebody does to it ("that the boy feeds")."""
        pronoun = self.put("who" if kind == "person" else "that", "PRON")
        if kind in ("person", "animal") and self.chance() < 0.6:
            return self.hang(self.predicate(kind, plural, depth), (pronoun, "nsubj"))
        subject, doers_plural = self.noun_phrase("person", 0, "subject")
        head = self.verb(self.pick(TRANSITIVE["person", kind]), doers_plural, infinitive=False)
        return self.hang(head, (pronoun, "obj"), (subject, "nsubj"))


def vocabulary() -> tuple[str, ...]:
    """Every word of the grammar, in alphabetical order.

    >>> len(vocabulary())
    589
    """
    lists = [*ADJECTIVES.values(), MATERIALS, NAMES, MANNER, DEGREES, OPENERS, POSSESSION, COMPANY]
    lists += [LOCATION, MODALS, NUMBERS, SUBORDINATORS, *DETERMINERS.values(), OWNERS, *PRONOUNS.values()]
    lists += [["an", "that", "to", "and", "but", "or", "not", "who", ",", "."]]
    inflected = [*NOUNS.values(), *INTRANSITIVE.values(), *TRANSITIVE.values(), GIVING, SAYING, WANTING, BE, [DO]]
    lists += [[forms.singular, forms.plural, forms.past, forms.after] for words in inflected for forms in words]
    return tuple(sorted({word for words in lists for word in words if word}))
