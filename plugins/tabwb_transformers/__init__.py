"""Models in the transformers format, run in a child process."""
