"""Interchange with other tools: logs of inspect_ai, output of lm-evaluation-harness, tables."""
