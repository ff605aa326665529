"""Components that run in their own process."""
