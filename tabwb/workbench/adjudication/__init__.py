"""What raters differ on, and how it is settled."""
