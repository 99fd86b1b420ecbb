"""The modules that mutation testing changes, each with the tests that have to notice, the fastest first."""

_QUEUE = (
    "tests/common/webhooks/test_queue.py",
    "tests/common/webhooks/test_bring_forward.py",
    "tests/common/webhooks/test_settlement_of_endpoints.py",
    "tests/common/webhooks/test_settlement.py",
    "tests/common/webhooks/test_settlement_locks.py",
    "tests/common/webhooks/test_leases.py",
    "tests/common/webhooks/test_sender.py",
)

TARGETS: dict[str, tuple[str, ...]] = {
    "delivery/lifecycle.py": ("tests/delivery/test_lifecycle.py", "tests/delivery/actions/test_moves_of_a_delivery.py"),
    "delivery/pricing.py": ("tests/delivery/test_pricing.py", "tests/delivery/api/test_quotation_delivery.py"),
    "common/webhooks/breaker.py": (
        "tests/common/webhooks/test_breaker.py",
        "tests/common/webhooks/test_settlement_of_endpoints.py",
    ),
    "common/webhooks/retry.py": (
        "tests/common/webhooks/test_retry.py",
        "tests/common/webhooks/test_http_client.py",
        "tests/common/webhooks/test_settlement.py",
    ),
    "common/webhooks/queue.py": (
        *_QUEUE,
        "tests/common/webhooks/test_oldest_due.py",
        "tests/delivery/actions/test_events.py",
    ),
    "common/webhooks/claims.py": _QUEUE,
    "delivery/webhooks/authorization.py": ("tests/common/webhooks/test_sender.py",),
    "common/webhooks/settlement.py": (*_QUEUE, "tests/delivery/webhooks/test_suspension.py"),
    "delivery/accounts/tokens.py": (
        "tests/delivery/accounts/test_tokens.py",
        "tests/common/webhooks/test_bring_forward.py",
        "tests/delivery/actions/test_suspension.py",
        "tests/delivery/api/test_authentication.py",
        "tests/panel/integrators/test_tokens.py",
    ),
    "delivery/models/token.py": (
        "tests/delivery/models/test_token.py",
        "tests/delivery/accounts/test_tokens.py",
        "tests/delivery/api/test_authentication.py",
    ),
    "common/api/authentication.py": (
        "tests/integration/accounts/test_keys.py",
        "tests/delivery/accounts/test_tokens.py",
        "tests/delivery/api/test_authentication.py",
    ),
    "integration/freight/calculation.py": (
        "tests/integration/freight/test_calculation.py",
        "tests/integration/api/test_freight.py",
    ),
    "common/brazil/states.py": ("tests/common/brazil/test_states.py", "tests/integration/test_postcodes.py"),
    "integration/invoices/nfe.py": (
        "tests/integration/invoices/test_nfe.py",
        "tests/integration/api/test_invoices.py",
    ),
    "access/rights.py": ("tests/access/test_rights.py", "tests/access/test_admin.py"),
    "access/roles.py": ("tests/access/test_roles.py", "tests/access/test_rights_by_url.py"),
    "access/throttle.py": (
        "tests/access/test_log_in_limits.py",
        "tests/access/test_one_time_codes.py",
    ),
}
