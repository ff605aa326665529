"""Task types: what each kind of item may hold, how it is given, rated and summarised."""
