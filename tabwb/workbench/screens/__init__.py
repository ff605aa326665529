"""Screens and dialogs, each beside its style sheet; all but the desk are imported when opened."""
