"""The search for secrets and personal data in logs finds what it is for."""

import pytest

from tests.faults import log_contents


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.setattr(log_contents, "_folder", lambda: tmp_path)
    return tmp_path / "web.log"


@pytest.mark.parametrize("leaked", [
    f"rota_live_{'x' * 43}", f"rota_key_{'x' * 43}", f"whsec_{'x' * 43}=",  # not real
    "+55 11 97777-0001", "5511977770001", "11977770001", "maria@example.com", "52998224725", "Avenida Paulista",
])  # fmt: skip  # a table
def test_finds_a_line_with_it(log, leaked):
    log.write_text(f"GET /readyz 200\nrefused: {leaked}.\nrota_live_\u2026nXfA: token revoked\n")

    assert log_contents.leaks() == [f"web.log: refused: {leaked}."]
    assert log_contents.count() == 3
