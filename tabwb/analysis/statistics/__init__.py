"""The statistics of a group: from its responses to the rows of one table of results."""
