#!/usr/bin/env python
"""Django's command line. Without DATABASE_URL it holds the embedded PostgreSQL for as long as the command runs."""

import os
import sys

from django.core.management import execute_from_command_line

from config import checks, embedded


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    checks.refuse_bad_environment()
    embedded.hold_postgres()
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
