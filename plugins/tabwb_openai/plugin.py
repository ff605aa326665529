"""Registers what this package brings. Imports nothing heavy."""
