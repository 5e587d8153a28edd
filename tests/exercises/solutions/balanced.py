from kleene.programs import rasp

sign = rasp.Map(lambda bracket: 1 if bracket == "(" else -1, rasp.tokens).named("sign")
everything = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.TRUE).named("everything")
so_far = rasp.Select(rasp.indices, rasp.indices, rasp.Comparison.LEQ).named("so_far")
fell = (rasp.Aggregate(so_far, sign) < 0).named("fell")
anywhere = rasp.Aggregate(everything, rasp.Map(int, fell)).named("anywhere")
balanced = ((rasp.Aggregate(everything, sign) == 0) & (anywhere == 0)).named("balanced")
