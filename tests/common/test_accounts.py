"""What names may contain, where they are entered."""

import pytest
from django.core.exceptions import ValidationError

from access.forms import SignUpForm
from common.accounts import validate_name
from delivery.models import Driver, Integrator
from integration.models import Seller
from panel.forms import NewAccountForm, NewSellerForm

REFUSED = [
    "Loja\nYour account is closed", "Loja\r\nx", "Loja\tx", "Loja\x00", "Loja\u2028x", "Pay at https://evil.example",
    "javascript://x", "www.evil.example", "Pay at WWW.evil.example",
]  # fmt: skip  # a list


class TestValidateName:
    @pytest.mark.parametrize("name", REFUSED)
    def test_refuses_control_characters_and_web_addresses(self, name):
        with pytest.raises(ValidationError):
            validate_name(name)

    @pytest.mark.parametrize(
        "name",
        ["Loja São João & Cia. Ltda.", "Americanas.com", "Comércio S/A", "S.Paulo/SP", "A.B. Silva", "João 2.0", "店"],
    )
    def test_accepts_names(self, name):
        validate_name(name)


class TestEntered:
    @pytest.mark.parametrize("model", [Integrator, Seller, Driver])
    def test_in_the_admin_and_by_commands_is_checked(self, model):
        with pytest.raises(ValidationError, match="no web address"):
            model(name="See https://evil.example").clean()

    @pytest.mark.parametrize(
        "form",
        [NewAccountForm, NewSellerForm, lambda data: SignUpForm(data, log_in_name="ana@example.com")],
        ids=["account", "seller", "person"],
    )
    def test_on_a_page_is_checked(self, form):
        filled = form({"name": "See https://evil.example"})

        assert filled.errors["name"] == ["A name contains no web address."]
