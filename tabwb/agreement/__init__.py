"""How far raters agree: pure functions on int8 arrays of verdicts, see :mod:`.verdicts`."""
