import kleene

rows = [(str(r), str(b), str((2 * r + b) % 7)) for r in range(7) for b in range(2)]
divisible_by_7 = kleene.DFA.from_table(rows, start="0", accept=["0"])
