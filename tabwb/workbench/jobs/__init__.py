"""Background jobs: how far they are, and the page that lists them."""
