"""Pure rules of scoring on plain values: no files, no clock, no plugins."""
