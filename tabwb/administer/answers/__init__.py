"""Answers that were given elsewhere: matched with the items of a battery, rated and stored."""
