"""Spoken naming."""
