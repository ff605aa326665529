"""Plain records that all layers share: ids, specs, states, exchanges, trials, ratings, events.

Standard library only. Nothing here computes a score or touches a file.
"""
