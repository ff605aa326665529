"""The Textual workbench: a thin app, screens and widgets."""
