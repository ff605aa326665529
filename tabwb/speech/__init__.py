"""Microphone, sound files, level and quality, conditioning."""
