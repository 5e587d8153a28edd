"""The tables of stored runs of `kleene bench`, and of other measurements of the software.

    kleene bench teach -o teach.json
    python -m kleene_papers.benches teach.json bench-teach-2-cores --machine "2 cores"

The second command stores the rows as a result of the package, which pages and `kleene reproduce` show.
"""
