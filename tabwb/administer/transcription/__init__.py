"""Transcribers on stored recordings."""
