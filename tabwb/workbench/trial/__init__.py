"""Administering items."""
