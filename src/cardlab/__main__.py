"""`python -m cardlab` is the command `cardlab`."""

from __future__ import annotations

from cardlab.cli import main

if __name__ == "__main__":
    main()
