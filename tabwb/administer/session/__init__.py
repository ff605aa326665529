"""Sessions of text administrations: plan, commands, state, raters."""
