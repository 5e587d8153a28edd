"""A small Transformer language model."""

from kleene.machines.transformer_lm.transformer_lm import TransformerLM as TransformerLM
