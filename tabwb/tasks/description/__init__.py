"""A picture or a question is described, aloud or in typed words."""
