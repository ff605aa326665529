"""The summary of an open session, from its trials in memory and without numpy.

``tabwb run`` shows it when it ends, and the workbench after each response: loading numpy takes
longer than all of it. Only the responses are counted here; the values are computed where those of
:mod:`tabwb.report.summaries.columns` are, in :mod:`tabwb.report.summaries.subtest_counts` and
:mod:`tabwb.report.summaries.judges`.
"""
