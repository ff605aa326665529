"""The PSST challenge: its corpus, its tables, its systems trained again."""
