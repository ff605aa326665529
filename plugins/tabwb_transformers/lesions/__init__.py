"""Lesions of models in the transformers format."""
