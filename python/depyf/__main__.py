"""Executes the command `depyf` for `python -m depyf`."""

import sys

from depyf.cli import main

sys.exit(main())
