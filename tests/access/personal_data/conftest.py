from tests.integration.conftest import seller  # noqa: F401  # a fixture
