"""The first page: begin, continue, recent administrations, participants."""
