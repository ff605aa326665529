"""Summaries over numpy columns: from the store's columns to the values that are shown."""
