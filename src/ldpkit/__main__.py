"""`python -m ldpkit` is the command line."""

from __future__ import annotations

from ldpkit.cli.main import main

if __name__ == "__main__":
    main()
