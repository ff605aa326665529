"""Summaries, tables and exports of what the store holds."""
