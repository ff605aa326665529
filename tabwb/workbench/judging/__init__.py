"""Judges and their verdicts."""
