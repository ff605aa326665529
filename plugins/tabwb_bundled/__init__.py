"""The bundled demonstration model, its card and its back end."""
