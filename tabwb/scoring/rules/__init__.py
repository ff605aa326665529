"""The rules judge, ``rules-2`` and ``rules-1``: text rules for 14 of 19 features."""
