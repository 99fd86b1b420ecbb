"""Programs, and files by their paths, that tests need and pip does not install, each with the Debian packages of it.

`python3 tests/programs.py` prints the packages of PACKAGES that this machine lacks. Without one of these the tests that
need it are skipped, unless NOTHING_SKIPS is set, as in CI. CLIENTS are those of `make test-clients` alone, FAILOVER
those of `make test-faults ARGS="-m failover"`. The browser tests are faster with LIGHTER, and run without it.
"""

import os
import shutil
from pathlib import Path

LIGHTER = "chromium-headless-shell"  # Chromium without windows, a program and a package
PACKAGES = {
    "chromium": "chromium fonts-dejavu-core fonts-liberation",
    "php": "php-cli",  # a program that receives webhooks
    "node": "nodejs npm",
    "npm": "nodejs npm",  # tools that check the API's description
    "java": "default-jre-headless",  # the generator of clients
    "promtool": "prometheus",  # alert rules
    "docker-compose": "docker-compose",
    "systemd-analyze": "systemd",
    "nginx": "nginx-light",
    "pg_ctlcluster": "postgresql",
    "pgbouncer": "pgbouncer",
    "redis-server": "redis-server",
}
CLIENTS = {
    "javac": "default-jdk-headless",
    "go": "golang-go",
    # What generated clients import.
    "/usr/share/php/GuzzleHttp/autoload.php": "php-guzzlehttp-guzzle php-mbstring",
    "/usr/share/java/jackson-databind.jar": "libjackson2-databind-java",
    "/usr/share/java/httpmime.jar": "libhttpmime-java",
    "/usr/share/java/jsr305.jar": "libjsr305-java",
    "/usr/share/java/geronimo-annotation-1.3-spec.jar": "libgeronimo-annotation-1.3-spec-java",
}
FAILOVER = {"patroni": "patroni python3-etcd", "etcd": "etcd-server", "haproxy": "haproxy"}


def missing(name: str) -> str:
    """Why a test that needs this program or file is skipped; empty where it is installed."""
    if Path(name).exists() if name.startswith("/") else shutil.which(name):
        return ""
    return f"{name} was not found. To install it: apt-get install {(PACKAGES | CLIENTS | FAILOVER).get(name, name)}"


def is_needed() -> bool:
    """Whether a missing program is a failure."""
    return bool(os.environ.get("NOTHING_SKIPS"))


if __name__ == "__main__":
    print(*sorted({package for name in PACKAGES if missing(name) for package in PACKAGES[name].split()}))
