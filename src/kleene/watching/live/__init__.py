"""Pages of a local server: a run that follows its file and takes typed inputs, and curves that grow while it teaches.

`access` says which requests are answered, `connections` how long one is waited for, `board` keeps what pages are told,
and `server` joins them to starlette. A run is made by `worker` in a process of its own (`processes`), and again when
one of its files is saved (`saving`, `following`).
"""
