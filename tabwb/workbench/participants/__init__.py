"""Participants: list, record, consents, sessions, deletion."""
