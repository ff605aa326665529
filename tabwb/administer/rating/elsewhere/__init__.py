"""Ratings that people gave with other programs: read, matched with responses, kept as a set."""
