import kleene

rows = [("waiting", "a", "waiting"), ("waiting", "b", "waiting"), ("waiting", "a", "4")]
rows += [(str(left), letter, str(left - 1)) for left in (4, 3, 2) for letter in "ab"]
moves: dict = {}
for state, letter, following in rows:
    moves.setdefault((state, letter), []).append(following)
fourth_from_end = kleene.NFA(
    states=("waiting", "4", "3", "2", "1"), alphabet="ab", start="waiting", accept=["1"], transitions=moves
)
