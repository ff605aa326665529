"""Summaries and responses as JSON and CSV."""
