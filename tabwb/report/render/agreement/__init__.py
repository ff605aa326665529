"""Agreement of raters as tables for the terminal."""
