"""Summaries as plain values."""
