"""What is written of results for people: figures."""
