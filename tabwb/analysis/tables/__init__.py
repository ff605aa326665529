"""Tables of results, each declared once, made from summaries."""
