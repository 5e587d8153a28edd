"""Pages that step through a run: a trace as one JSON document, and the document in one file of HTML.

`document` says what the document holds; `transformers` and its neighbours add what a view of one kind needs; `page`
puts document, styles and scripts together; `watch` is the verb. The scripts are plain modules in the folder `page`.
"""
