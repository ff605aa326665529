"""The lesion laboratory."""
