"""Transformer programs into the weights of a Universal Transformer, and the certificates that go with them."""
