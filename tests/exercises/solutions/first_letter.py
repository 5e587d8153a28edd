from kleene.programs import rasp

first = rasp.Select(rasp.indices, rasp.Full(0), rasp.Comparison.EQ).named("first")
first_letter = rasp.Aggregate(first, rasp.tokens).named("first_letter")
