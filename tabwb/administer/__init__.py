"""The engine: plans, sessions, driving models, rating."""
