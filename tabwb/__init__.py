"""tabwb: a terminal workbench for aphasia batteries.

A research instrument, never a diagnostic one. See :mod:`tabwb.records.words` for the words that
must be on every report.
"""

__version__ = "0.1.0"
