"""``python -m tabwb_psst.train``."""

import sys

from tabwb_psst.train.work import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
