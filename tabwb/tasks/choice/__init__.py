"""One of the item's options is chosen."""
