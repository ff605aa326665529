"""Scoring of spoken naming: correctness, distance from the target, response codes."""
