"""``python -m tabwb``; of the current folder, which ``-m`` puts first, nothing more is imported."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    from tabwb.start import main

    raise SystemExit(main())
