"""Scoring of spoken naming: correctness, distance from target, codes (docs/naming-rules.md)."""
