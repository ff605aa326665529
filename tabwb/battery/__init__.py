"""Batteries: the model, its TOML loader with located problems, prompts, JSON schema."""
