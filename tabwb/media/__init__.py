"""What is written of results for people: figures, tables, methods and reports."""
