"""Transcribers: the wav2vec 2.0 family, and transcripts typed by a person."""
