from kleene.programs import rasp


def rotate():
    wanted = ((rasp.indices + 1) % rasp.length).named("wanted")
    there = rasp.Select(rasp.indices, wanted, rasp.Comparison.EQ).named("there")
    return rasp.Aggregate(there, rasp.tokens).named("rotate")
