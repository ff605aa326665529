"""Makes the items of the localizer of lesions."""
