"""The budgets, measured: ``make bench`` or ``python -m benchmarks``."""
