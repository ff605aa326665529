"""The summary of an open session, from its trials in memory and without numpy.

``tabwb run`` shows it when it ends, and the workbench after each response: loading numpy takes
longer than all of it. Everything that reads the store uses :mod:`tabwb.report.summaries.columns`,
which gives the same summary; ``tests/report/test_columns.py`` compares both.
"""
