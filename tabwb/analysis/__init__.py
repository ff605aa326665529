"""Results of responses and ratings as typed tables: every number is computed here, once."""
