"""Circuits of Transformers: the true one, methods that look for it, and a judge of the methods.

`truth` computes the circuit of a compiled network from its weights, `methods` has what explanations say, and `judging`
compares the two.
"""
