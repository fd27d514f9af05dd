"""The entry point: listens for signals before anything else is loaded, be it from the standard library."""

import sys

try:
    from ldpkit.core.stopping import stop_at_signals
except KeyboardInterrupt:  # nothing has begun
    sys.exit(130)

__all__ = ["main"]


def main() -> None:
    """Run the command line; it has the process for itself."""
    try:
        stop_at_signals()
    except KeyboardInterrupt:
        sys.exit(130)
    from ldpkit.cli.app import run

    run(sys.argv[1:])
