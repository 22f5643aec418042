"""`python -m tests.bench.avro`: the auditor, which takes what is in its topics for Avro's."""

import sys

from auditor.__main__ import main
from tests.bench.avro.reading import reading

if __name__ == "__main__":
    with reading():
        sys.exit(main(sys.argv[1:]))
