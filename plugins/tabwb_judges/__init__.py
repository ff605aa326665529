"""Judges that put a prompt of a file to a chat model."""
