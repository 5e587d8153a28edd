"""Transformer programs into the weights of a Universal Transformer, and the certificates that go with them.

    Program ─ residual_stream ─▶ Stream      which dimensions hold which variable      stream.py
            ─ embeddings ──────▶ Embeddings  what tokens and positions start as        stream.py
            ─ attention_heads ─▶ HeadWeights queries, keys, values, distances          stream.py
            ─ compact_units ───▶ Units       what each hidden unit asks and writes     units.py
            ─ expand ──────────▶ Features    numbers, sets and sums as 0 or 1          features.py
            ─ whole_mlp ───────▶ MLP         the hidden units as weights               hidden.py
            ─ probe_of ────────▶ Probe       where an undefined head would be used     hidden.py
            ─ passes ──────────▶ Passes      all of these; `.network` is the machine   compiler.py

Every pass is a function of what the passes before it made, and what it makes can be printed.
"""
