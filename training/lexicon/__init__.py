"""Makes the word lists that the rules judge ships."""
