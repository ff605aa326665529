"""What back ends of remote services share."""
