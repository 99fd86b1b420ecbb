"""Tables that can be pasted into benchmarks/RESULTS.md."""

import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import aiohttp
import django
from django.db import connection


def machine() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        (postgres,) = cursor.fetchone()
    print(
        f"\nMachine: {os.cpu_count()} cores, Python {platform.python_version()}, Django {django.__version__}, "
        f"aiohttp {aiohttp.__version__}, PostgreSQL {postgres}; everything on loopback.\n"
    )


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def spread(values: Sequence[float], *, unit: str = "", digits: int = 0) -> str:
    """Median, with the least and the greatest."""
    return f"{median(values):,.{digits}f}{unit} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def cpu_milliseconds(act: Callable[[], object]) -> float:
    """CPU time of this process and of the backend that it is connected to. Other load distorts it little."""
    before = _spent()
    act()
    return 1000 * (_spent() - before)


def _spent() -> float:
    connection.ensure_connection()
    backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat").read_text()
    return time.process_time() + int(backend.split()[0]) / 1e9
