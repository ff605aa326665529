"""Tables of typed columns, each with its meaning: what files, figures and Python are given."""
