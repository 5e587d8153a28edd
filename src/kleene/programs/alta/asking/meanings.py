"""What the runs of a program's functions come to: the new code of each variable, and where each head is used.

Both are diagrams over the codes of what is read, with every head defined. A head counts as used where an undefined
reading would have ended the run, or changed what it writes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kleene.programs.alta.asking.diagrams import Diagrams
from kleene.programs.alta.asking.runs import Asked, Leaf, Tree

USED = -2  # stands for the code that an ended run would have written


@dataclass(frozen=True)
class Meaning:
    """The new code of every variable that is written, the old one where it is kept; and where each head is used."""

    diagrams: Diagrams
    updates: Mapping[str, int]
    used: Mapping[str, int]


def meaning_of(trees: Sequence[Tree], sizes: Mapping[str, int], heads: Collection[str]) -> Meaning:
    """The meaning of functions that write different variables."""
    names = dict.fromkeys(name for tree in trees for name in tree.reads)
    names |= dict.fromkeys(name for tree in trees for name in tree.written)
    diagrams = Diagrams(list(names), sizes)
    readings = [_OneTree(tree, diagrams, frozenset(heads)) for tree in trees]
    updates = {t: reading.update(t) for reading in readings for t in reading.tree.written}
    used = {h: diagrams.either(reading.used(h) for reading in readings) for h in heads if h in names}
    return Meaning(diagrams, updates, used)


class _OneTree:
    """Reads the tree of one function as diagrams."""

    def __init__(self, tree: Tree, diagrams: Diagrams, heads: frozenset[str]):
        self.tree, self._d, self._heads = tree, diagrams, heads
        self._known: dict[tuple[str, str, int], int] = {}

    def update(self, target: str) -> int:
        return self._update(target, self.tree.root, self._d.identity(target))

    def _update(self, target: str, index: int, kept: int) -> int:
        key = ("update", target, index)
        if key not in self._known:
            node = self.tree.nodes[index]
            if isinstance(node, Asked):
                defined = node.children[:-1] if node.name in self._heads else node.children
                branches = tuple(self._update(target, child, kept) for child in defined)
                self._known[key] = self._d.select(self._d.level[node.name], branches)
            elif node.used:
                self._known[key] = self._d.end(USED)
            else:
                self._known[key] = self._d.end(node.writes[target]) if target in node.writes else kept
        return self._known[key]

    def used(self, head: str) -> int:
        return self._used(head, self.tree.root)

    def _used(self, head: str, index: int) -> int:
        key = ("used", head, index)
        if key not in self._known:
            node = self.tree.nodes[index]
            if isinstance(node, Leaf):
                self._known[key] = self._d.zero
            elif node.name == head:
                self._known[key] = self._matters(node)
            else:
                defined = node.children[:-1] if node.name in self._heads else node.children
                branches = tuple(self._used(head, child) for child in defined)
                self._known[key] = self._d.select(self._d.level[node.name], branches)
        return self._known[key]

    def _matters(self, node: Asked) -> int:
        """1 where a run with an undefined reading ends, or writes something else than with one of the defined ones."""
        d, undefined = self._d, node.children[-1]
        ended = self.tree.nodes[undefined]
        if isinstance(ended, Leaf) and ended.used:
            return d.one
        parts = [self._ends(undefined)]
        for target in self.tree.written:
            kept = d.identity(target)
            mine = self._update(target, undefined, kept)
            parts += [d.differ(mine, self._update(target, child, kept)) for child in set(node.children[:-1])]
        return d.either(parts)

    def _ends(self, index: int) -> int:
        """1 where a run uses an undefined reading."""
        key = ("ends", "", index)
        if key not in self._known:
            node = self.tree.nodes[index]
            if isinstance(node, Leaf):
                self._known[key] = self._d.one if node.used else self._d.zero
            else:
                defined = node.children[:-1] if node.name in self._heads else node.children
                branches = tuple(self._ends(child) for child in defined)
                self._known[key] = self._d.select(self._d.level[node.name], branches)
        return self._known[key]
