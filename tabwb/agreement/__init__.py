"""How far raters agree: pure rules on plain arrays."""
