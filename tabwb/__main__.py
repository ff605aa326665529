"""``python -m tabwb``."""

from tabwb.start import main

if __name__ == "__main__":
    raise SystemExit(main())
