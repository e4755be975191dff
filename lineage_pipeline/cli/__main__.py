"""Entry point of `python -m lineage_pipeline.cli`, which is the same as `lineage`."""

import sys

from lineage_pipeline.cli import main

if __name__ == "__main__":
    sys.exit(main())
