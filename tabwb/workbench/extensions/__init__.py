"""Result pages that plugins add to the workbench."""
