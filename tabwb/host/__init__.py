"""Finds, checks and runs plugins: registry, child processes, services, settings and keys."""
