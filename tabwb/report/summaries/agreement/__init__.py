"""Agreement of raters: what they gave to the same samples, compared."""
