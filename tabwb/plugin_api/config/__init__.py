"""Configuration files, environment, profiles and studies."""
