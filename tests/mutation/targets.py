"""The modules that mutation testing changes, each with the tests that have to notice."""

TARGETS: dict[str, tuple[str, ...]] = {
    "delivery/lifecycle.py": ("tests/delivery/test_lifecycle.py", "tests/delivery/actions"),
    "delivery/pricing.py": ("tests/delivery/test_pricing.py", "tests/delivery/actions"),
    "delivery/distance.py": ("tests/delivery/test_distance.py",),
    "delivery/breaker.py": ("tests/delivery/test_breaker.py", "tests/delivery/webhooks"),
    "delivery/webhooks/retry.py": ("tests/delivery/webhooks",),
    "delivery/webhooks/queue.py": ("tests/delivery/webhooks",),
    "delivery/webhooks/settlement.py": ("tests/delivery/webhooks",),
    "delivery/actions/tokens.py": ("tests/delivery/actions", "tests/delivery/api", "tests/panel"),
    "delivery/models/token.py": ("tests/delivery/models", "tests/delivery/actions", "tests/delivery/api"),
    "integration/freight.py": ("tests/integration",),
    "integration/postcodes.py": ("tests/integration",),
    "integration/nfe.py": ("tests/integration",),
    "panel/access.py": ("tests/panel", "tests/config"),
}
