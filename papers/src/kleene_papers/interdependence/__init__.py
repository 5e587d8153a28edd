"""The studies of Saphra & Lopez 2020: rules α Q ω with familiar scaffolds, and the words of English sentences."""
