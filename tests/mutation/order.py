"""A plugin of pytest: what needs no database, and is the fastest, runs first. pytest-django runs it last."""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the others in pytest-django's order."""
    items.sort(key=_needs_database)


def _needs_database(item: pytest.Item) -> bool:
    fixtures: list[str] = getattr(item, "fixturenames", [])
    return item.get_closest_marker("django_db") is not None or not {"db", "transactional_db"}.isdisjoint(fixtures)
