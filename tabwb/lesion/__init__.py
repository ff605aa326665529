"""Lesions: what a spec says, which units it takes, and how a model's parts are named."""
