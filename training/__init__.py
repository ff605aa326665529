"""Scripts that make the models which ship with the workbench."""
