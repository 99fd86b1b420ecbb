"""Programs that tests start and that pip does not install, each with the Debian packages that bring it.

`python3 tests/programs.py` prints the packages that this machine lacks. Without a program its tests are skipped, unless
NOTHING_SKIPS is set, as in CI.
"""

import os
import shutil

PACKAGES = {
    "chromium": "chromium fonts-dejavu-core fonts-liberation",
    "php": "php-cli",  # a program of the panel's quickstart
    "node": "nodejs npm",
    "npm": "nodejs npm",  # clients generated from the API's description
    "javac": "default-jdk-headless libjackson2-databind-java libhttpmime-java libjsr305-java"
    " libgeronimo-annotation-1.3-spec-java",  # a generated client
    "go": "golang-go golang-gopkg-validator.v2-dev",
    "promtool": "prometheus",  # alert rules
    "docker-compose": "docker-compose",
    "systemd-analyze": "systemd",
    "nginx": "nginx-light",
    "pg_ctlcluster": "postgresql",
    "pgbouncer": "pgbouncer",
    "redis-server": "redis-server",
}


def missing(name: str) -> str:
    """Why a test that needs this program is skipped; empty where the program is installed."""
    if shutil.which(name):
        return ""
    return f"{name} was not found. To install it: apt-get install {PACKAGES.get(name, name)}"


def is_needed() -> bool:
    """Whether a missing program is a failure."""
    return bool(os.environ.get("NOTHING_SKIPS"))


if __name__ == "__main__":
    print(*sorted({package for name in PACKAGES if missing(name) for package in PACKAGES[name].split()}))
