"""``python -m askance`` is the ``askance`` command."""

from askance.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
