"""The Universal Transformer that transformer programs compile to: one layer, repeated.

`parameters` are the weights, `layout` says what their dimensions mean, and `universal_transformer` is the machine.
`layer` is one layer in numpy or jax, `plan` what compiled weights allow to be looked up instead of computed.
`execution` runs a batch in numpy, `jax_execution` a large one in jax, `decoding` one token after the other.
"""

from kleene.machines.transformer.universal_transformer import UniversalTransformer as UniversalTransformer
