"""Judges on stored responses."""
