"""Rating sets: their list, and the screen on which one person rates, blind to the source."""
