"""`manage.py bootstrap`. From an empty database: tests/config/test_pooler.py."""

import getpass
import json
import sys
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from access import enrolment
from access.models import InitialPassword
from delivery.models import Tariff, TariffChange, VehicleType
from tests.factories import IntegratorFactory, TariffFactory

PASSWORD = "plum canoe ladder frost"  # pragma: allowlist secret


@pytest.fixture
def bootstrap(db, monkeypatch):
    """Run the command without a terminal, as in a container. Returns exit code and answer."""
    monkeypatch.setattr(sys, "stdin", StringIO())

    def run(*arguments, name="ana", password=PASSWORD):
        for variable, value in {"ROTA_SUPERUSER": name, "ROTA_SUPERUSER_PASSWORD": password}.items():
            monkeypatch.setenv(variable, value) if value else monkeypatch.delenv(variable, raising=False)
        out = StringIO()
        code: str | int | None = 0
        try:
            call_command("bootstrap", *arguments, stdout=out)
        except SystemExit as stop:
            code = stop.code
        return code, json.loads(out.getvalue())

    return run


class TestBootstrap:
    def test_creates_a_superuser_and_the_tariffs_and_says_what_5_km_cost(self, bootstrap, settings):
        settings.REQUIRE_TWO_FACTOR = True

        code, answer = bootstrap()

        assert (code, answer["changed"], answer["superuser"]) == (0, True, "ana")
        assert answer["tariffs"] == VehicleType.values
        user = User.objects.get()
        assert (user.is_superuser, user.is_staff, user.check_password(PASSWORD)) == (True, True, True)
        assert enrolment.is_valid(user=user, code=answer["enrolment_code"], at=timezone.now())
        assert InitialPassword.objects.get().user == user  # the one of the environment is changed at the first log-in
        # 7.90 with two kilometres, three more at 1.80; 14.90 and 2.60, at least 18.90.
        assert answer["prices_of_5_km"] == {"MOTORCYCLE": 13.3, "CAR": 22.7}
        assert [change.pgh_context["by"] for change in TariffChange.objects.all()] == ["command bootstrap"] * len(
            VehicleType.values
        )

    def test_creates_one_beside_people_who_are_none_or_cannot_log_in(self, bootstrap):
        User.objects.create_superuser("former", is_active=False)
        User.objects.create_user("staff", is_staff=True)

        assert bootstrap()[1]["superuser"] == "ana"

    @pytest.mark.parametrize(("again", "created"), [(PASSWORD, 1), (PASSWORD + "x", 0)])
    def test_asks_at_a_terminal_for_a_password_that_its_owner_keeps(self, bootstrap, monkeypatch, again, created):
        answers = iter([PASSWORD, again])
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(getpass, "getpass", lambda _prompt: next(answers))

        code, _answer = bootstrap(password="")

        assert (code, User.objects.count(), InitialPassword.objects.count()) == (1 - created, created, 0)

    def test_changes_nothing_the_second_time_and_says_so(self, bootstrap):
        bootstrap()
        before = list(User.objects.values()), list(Tariff.objects.values()), list(InitialPassword.objects.values())

        code, answer = bootstrap(name="eve", password="another long one here")

        assert code == 0
        assert [answer[key] for key in ("changed", "superuser", "enrolment_code", "tariffs")] == [False, None, None, []]
        assert before == (
            list(User.objects.values()), list(Tariff.objects.values()), list(InitialPassword.objects.values())
        )  # fmt: skip  # one line for the three

    def test_leaves_a_tariff_that_was_switched_off_as_it_is(self, bootstrap):
        TariffFactory.create(vehicle_type=VehicleType.CAR, active=False)
        TariffFactory.create(vehicle_type=VehicleType.MOTORCYCLE, integrator=IntegratorFactory.create())

        _code, answer = bootstrap()

        assert (answer["tariffs"], answer["prices_of_5_km"]["CAR"]) == (["MOTORCYCLE"], None)
        assert Tariff.objects.filter(vehicle_type=VehicleType.CAR, active=True).count() == 0

    @pytest.mark.parametrize(
        ("name", "password", "text"),
        [
            ("ana", "", "no terminal to ask at"),
            ("", PASSWORD, "no terminal to ask at"),
            ("ana", "qwerty", "password: "),
            ("a b", PASSWORD, "username: "),
        ],
    )
    def test_refuses_and_creates_nothing(self, bootstrap, name, password, text):
        code, answer = bootstrap(name=name, password=password)

        assert (code, answer["error"]) == (1, "invalid")
        assert text in answer["detail"]
        assert password not in answer["detail"] or not password
        assert (User.objects.count(), Tariff.objects.count()) == (0, 0)

    def test_names_the_command_by_which_it_was_run(self, bootstrap, monkeypatch):
        monkeypatch.setenv("ROTA_MANAGE", "rota-manage")

        steps = "\n".join(bootstrap()[1]["next"])

        assert "deliveries: rota-manage create_integrator" in steps
        assert "manage.py" not in steps

    def test_names_what_is_left_to_do(self, bootstrap, settings):
        settings.REQUIRE_TWO_FACTOR = True
        settings.SITE_URL = "https://rota.example.com"

        steps = "\n".join(bootstrap()[1]["next"])
        later = "\n".join(bootstrap()[1]["next"])

        assert "https://rota.example.com/admin/ as ana" in steps
        assert "enrolment_code, within 24 hours" in steps
        assert "deliveries: manage.py create_integrator" in steps
        assert "manage.py enrol_second_factor ana" in later
