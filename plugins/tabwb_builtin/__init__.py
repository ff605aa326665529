"""First-party parts: echo, replay, scorers, the rules judge, exporters, the batteries."""
