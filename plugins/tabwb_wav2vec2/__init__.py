"""Transcribers: wav2vec 2.0 and its relatives, and what a person types."""
