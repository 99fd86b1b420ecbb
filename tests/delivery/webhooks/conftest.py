"""The fixtures of the sending engine."""

from tests.common.webhooks.conftest import endpoint, first, receiving, send_due, sink, token  # noqa: F401  # fixtures
