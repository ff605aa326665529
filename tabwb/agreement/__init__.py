"""How far raters agree: pure functions on plain arrays.

Verdicts are int8 arrays of shape (raters, samples, features): see :mod:`.verdicts`.

- :mod:`.pairs`: two raters: tables, kappa, AC1, weighted kappa, specific agreement
- :mod:`.compare`: several pairs: by feature, over features, with intervals; differences of these
- :mod:`.consensus`: the majority, ties, decisions; the majority of the other raters
- :mod:`.many`: alpha, Fleiss' kappa
- :mod:`.calibration`: a judge against a reference
- :mod:`.transcribers`: the interval of an error rate between two transcribers
- :mod:`.dawid_skene`: error rates without a known truth
- :mod:`.planning`: the interval width that a design may expect
- :mod:`.intervals`, :mod:`.resampling`: how intervals are made
"""
