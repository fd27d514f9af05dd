"""`python -m ldpkit` is the command line."""

import sys

try:
    from ldpkit.cli.main import main
except KeyboardInterrupt:  # nothing has begun
    sys.exit(130)

if __name__ == "__main__":
    main()
