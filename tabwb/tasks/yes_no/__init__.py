"""A question is answered with Yes or No."""
