"""Results of one administration."""
