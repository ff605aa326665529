"""Tables, migrations and queries: the only package that knows SQL."""
