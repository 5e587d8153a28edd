"""The tables and figures of the texts, by name, each with the text's own numbers beside ours."""
