"""``python -m papers``, or ``python -m papers p1 p4`` for some pages."""

import sys

from papers.run import main

if __name__ == "__main__":
    main(sys.argv[1:])
