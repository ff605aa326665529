"""A few sentences, without a right answer."""
