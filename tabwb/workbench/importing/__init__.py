"""Answers from elsewhere."""
