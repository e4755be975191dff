"""`python -m lineage_pipeline.cli` is `lineage`."""

import sys

from lineage_pipeline.cli import main

if __name__ == "__main__":
    sys.exit(main())
