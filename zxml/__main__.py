"""python -m zxml."""

import sys

from zxml.cli import main

sys.exit(main())
