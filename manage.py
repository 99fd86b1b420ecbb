#!/usr/bin/env python
"""Django's command line. In embedded mode it keeps the embedded PostgreSQL running for as long as the command runs."""

import os
import sys

from django.core.management import execute_from_command_line

from config import environment
from config.env import VERSION, is_embedded


def main() -> None:
    if sys.argv[1:] in (["--version"], ["version"]):
        sys.stdout.write(f"{VERSION}\n")
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    environment.refuse_bad_environment()
    if is_embedded():
        from dev import embedded  # its packages are absent in production

        embedded.hold_postgres()
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
