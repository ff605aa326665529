"""What is shown and written of results for people: views, figures, tables, methods, reports."""
