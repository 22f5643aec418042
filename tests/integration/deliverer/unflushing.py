"""`python -m tests.integration.deliverer.unflushing`: a deliverer on a disk that does not flush."""

import sys

from services.deliverer.__main__ import main
from tests.flushing import fail_flushes

if __name__ == "__main__":
    fail_flushes()
    sys.exit(main(sys.argv[1:]))
