"""Sessions of spoken naming: responses, labels, scores, imports."""
