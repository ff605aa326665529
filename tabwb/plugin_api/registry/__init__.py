"""How plugins are found, trusted, loaded and called."""
