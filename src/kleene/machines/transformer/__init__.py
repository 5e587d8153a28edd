"""The Universal Transformer that transformer programs compile to: one layer, repeated.

`parameters` are the weights and the layout of their dimensions; `universal_transformer` is the machine. `attention` is
computed as softmax or, where compiled weights allow it, looked up; `layer` is one layer in numpy or jax. `execution`
runs a batch in numpy or decodes one token after the other; `jax_execution` runs a large batch in jax. `shared` is
another machine, an ordinary Transformer to be trained.
"""

from kleene.machines.transformer.universal_transformer import UniversalTransformer as UniversalTransformer
