"""Phonemes, their features, and how far one utterance is from another: pure rules."""
