"""`python -m benchmarks [NAME]…`: those of webhooks without a name.

After `api` or `growth` come names of its calls, after `driver-day` its drivers and routes.
"""

import sys

from benchmarks import processes

_WEBHOOKS = ("drain", "latency", "hang", "claim")
_NAMES = (
    *_WEBHOOKS,
    "changelist",
    "driver-start",
    "eligible",
    "flood",
    "api",
    "fresh-import",
    "growth",
    "page-updates",
    "position-reports",
    "positions",
    "arrival-times",
    "driver-day",
    "partitions",
    "reports",
    "verify",
)


def main(names: list[str]) -> int:
    names, calls = (names[:1], names[1:]) if names[:1] in (["api"], ["growth"], ["driver-day"]) else (names, [])
    if unknown := set(names) - set(_NAMES):
        print(f"No such benchmark: {', '.join(unknown)}. There are {', '.join(_NAMES)}.", file=sys.stderr)
        return 2
    with processes.servers():
        from benchmarks import (
            api,
            arrival_times,
            changelist,
            claim,
            drain,
            driver_day,
            driver_start,
            eligible,
            flood,
            fresh_import,
            growth,
            latency,
            page_updates,
            partitions,
            position_reports,
            positions,
            report,
            reports,
            verify,
        )  # they need Django, which needs the servers

        runs = {
            "drain": drain.run,
            "latency": latency.run,
            "hang": latency.run_with_a_hanging_endpoint,
            "claim": claim.run,
            "changelist": changelist.run,
            "driver-start": driver_start.run,
            "eligible": eligible.run,
            "flood": flood.run,
            "api": lambda: api.run(calls),
            "fresh-import": fresh_import.run,
            "growth": lambda: growth.run(calls),
            "page-updates": page_updates.run,
            "position-reports": position_reports.run,
            "positions": positions.run,
            "arrival-times": arrival_times.run,
            "driver-day": lambda: driver_day.run(*map(int, calls)),
            "partitions": partitions.run,
            "reports": reports.run,
            "verify": verify.run,
        }
        report.machine()
        for name in names or _WEBHOOKS:
            runs[name]()
    return 0


sys.exit(main(sys.argv[1:]))
