"""Plugins: hook specifications, plugin manager, component protocols, child host."""
