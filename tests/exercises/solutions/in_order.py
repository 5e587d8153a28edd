from kleene.programs import rasp

key = rasp.SequenceMap(lambda number, index: (number, index), rasp.tokens, rasp.indices).named("key")
place = rasp.SelectorWidth(rasp.Select(key, key, rasp.Comparison.LT)).named("place")
in_order = rasp.Aggregate(rasp.Select(place, rasp.indices, rasp.Comparison.EQ), rasp.tokens).named("in_order")
