"""`python -m benchmarks [NAME]…`: those of webhooks without a name.

After `api`, `api-orm`, `growth` or `tail` come names of its calls or variants, after `check` or `day` a commit.
"""

import sys
from pkgutil import resolve_name

from benchmarks import processes

_WEBHOOKS = ("drain", "latency", "hang", "claim")
_RUNS = {
    "drain": "drain:run",
    "latency": "latency:run",
    "hang": "latency:run_with_a_hanging_endpoint",
    "claim": "claim:run",
    "changelist": "changelist:run",
    "driver-start": "driver_start:run",
    "api": "api:run",
    "addresses": "addresses:run",
    "api-orm": "api:run_beside_an_orm",
    "fresh-import": "fresh_import:run",
    "growth": "growth:run",
    "heavy": "heavy:run",
    "page-updates": "page_updates:run",
    "position-reports": "position_reports:run",
    "arrival-times": "arrival_times:run",
    "reports": "reports:run",
    "scans": "scans:run",
    "tail": "tail:run",
    "verify": "verify:run",
}

_WITH_ARGUMENTS = {"api", "api-orm", "growth", "tail"}


def main(names: list[str]) -> int:
    if names[:1] in (["check"], ["day"]):
        processes.set_up()
        status: int = resolve_name(f"benchmarks.{names[0]}:run")(names[1:])
        return status
    first, *arguments = names or [""]
    names, arguments = ([first], arguments) if first in _WITH_ARGUMENTS else (names, [])
    if unknown := set(names) - set(_RUNS):
        print(f"No such benchmark: {', '.join(unknown)}. There are {', '.join(_RUNS)}.", file=sys.stderr)
        return 2
    with processes.servers():
        # Imported here, because they need Django, which needs the servers.
        report = resolve_name("benchmarks.report")
        report.machine()
        for name in names or _WEBHOOKS:
            run = resolve_name(f"benchmarks.{_RUNS[name]}")
            if name in _WITH_ARGUMENTS:
                run(arguments)
            else:
                run()
    return 0


sys.exit(main(sys.argv[1:]))
