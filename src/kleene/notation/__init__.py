"""What programs and machines both speak of: words, tokens, tapes, wirings and exact numbers."""
