"""Summaries as Rich tables and lines."""
