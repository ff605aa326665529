"""Measurements of the budgets: ``make bench`` or ``python -m benchmarks``."""
