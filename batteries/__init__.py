"""The batteries that tabwb brings, one folder each; data only."""
