"""Sweeps: many runs of `teach` or `reproduce`, described in one file and kept in one store.

`definition` reads the file, `cells` names its runs, `packs` puts them together. `store` and `claims` are the folder
that all workers share. A `worker` runs packs, in the `places` of this machine or on a `cluster`; `probing` measures
them before. `sweep` is the verb, and `results` what came of it.
"""
