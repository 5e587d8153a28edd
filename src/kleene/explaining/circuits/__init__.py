"""Circuits of Transformers: the true one, and methods that look for it.

`truth` computes the circuit of a compiled network from its weights, and `methods` has what explanations say.
`kleene.groundtruth.judging` compares the two.
"""
