"""Rating pages in a browser: one small web server, one process for each rater who is there."""
