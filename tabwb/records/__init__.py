"""Plain records that all layers share: ids, specs, states, exchanges, trials, ratings, events.

Standard library only; nothing here computes a score.
"""
