"""Scripts that make the word lists of the rules judge."""
