"""Plain records that every floor shares: ids, specs, states, exchanges, trials, ratings, events.

Standard library only. Nothing here computes a score or touches a file.
"""
