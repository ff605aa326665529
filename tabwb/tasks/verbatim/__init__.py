"""A text is repeated, character for character."""
