"""Sweeps: a battery given to a model under many lesions, the intact model and controls."""
