"""`python -m benchmarks [NAME]…`: those of webhooks without a name. After `api` or `growth` come names of its calls."""

import sys

from benchmarks import processes

_WEBHOOKS = ("drain", "latency", "hang", "claim")
_NAMES = (*_WEBHOOKS, "changelist", "eligible", "flood", "api", "fresh-import", "growth", "positions", "partitions")


def main(names: list[str]) -> int:
    names, calls = (names[:1], names[1:]) if names[:1] in (["api"], ["growth"]) else (names, [])
    if unknown := set(names) - set(_NAMES):
        print(f"No such benchmark: {', '.join(unknown)}. There are {', '.join(_NAMES)}.", file=sys.stderr)
        return 2
    with processes.servers():
        from benchmarks import (
            api,
            changelist,
            claim,
            drain,
            eligible,
            flood,
            fresh_import,
            growth,
            latency,
            partitions,
            positions,
            report,
        )  # they need Django, which needs the servers

        runs = {
            "drain": drain.run,
            "latency": latency.run,
            "hang": latency.run_with_a_hanging_endpoint,
            "claim": claim.run,
            "changelist": changelist.run,
            "eligible": eligible.run,
            "flood": flood.run,
            "api": lambda: api.run(calls),
            "fresh-import": fresh_import.run,
            "growth": lambda: growth.run(calls),
            "positions": positions.run,
            "partitions": partitions.run,
        }
        report.machine()
        for name in names or _WEBHOOKS:
            runs[name]()
    return 0


sys.exit(main(sys.argv[1:]))
