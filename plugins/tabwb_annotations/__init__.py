"""Spoken naming in the formats of phonetics and of the aphasia archives."""
