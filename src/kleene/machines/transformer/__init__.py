"""The Universal Transformer that transformer programs compile to: one layer, repeated."""

from kleene.machines.transformer.universal_transformer import UniversalTransformer as UniversalTransformer
