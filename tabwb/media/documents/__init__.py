"""Summaries and responses as JSON, CSV and exports, for other programs."""
