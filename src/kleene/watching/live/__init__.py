"""Pages of a local server: a run that follows its file and takes typed inputs, and curves that grow while it teaches.

`access` says which requests are answered, `board` keeps what pages are told, `server` joins both to starlette. A run is
made by `worker` in a process of its own (`processes`), and again when one of its files is saved (`saving`,
`following`).
"""
