"""Any answer, which scorers of the battery's author rate."""
