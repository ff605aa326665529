"""Stored recordings transcribed in the background."""
