"""A picture is named aloud."""
