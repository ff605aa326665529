"""Registers the transcribers; imports nothing heavy."""
