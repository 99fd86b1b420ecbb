import secrets
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from config.banner import credentials
from config.env import env
from config.management.commands.seed_demo import LOGIN, SANDBOX_SHOP, SELLER, SHOP
from delivery.actions import endpoints, tokens
from delivery.models import Environment, Integrator
from integration.actions import keys
from integration.models import Seller

_BY = "command demo_credentials"


class Command(BaseCommand):
    help = "Give the demo's log-in, shops and seller new credentials, end the old ones, and print commands to paste."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default=f"http://127.0.0.1:{env.int('PORT', 8000)}", help="the running service")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            with transaction.atomic():
                renewed = _renew()
        except (User.DoesNotExist, Integrator.DoesNotExist, Seller.DoesNotExist) as error:
            raise CommandError(f"This database holds no whole demo: {error}") from error
        self.stdout.write("\n".join(credentials(options["url"], renewed)))


def _renew() -> dict[str, str]:
    user = User.objects.get(username=LOGIN)
    # The oldest of each name: `manage.py demo` makes more of them.
    shop = Integrator.objects.filter(name=SHOP).earliest("pk")
    sandbox_shop = Integrator.objects.filter(name=SANDBOX_SHOP).earliest("pk")
    seller = Seller.objects.filter(name=SELLER).earliest("pk")
    password = secrets.token_urlsafe(9)
    user.set_password(password)
    user.save(update_fields=["password"])
    return {
        "login": LOGIN,
        "password": password,
        "token": _new_token(shop, Environment.LIVE),
        "sandbox_token": _new_token(sandbox_shop, Environment.SANDBOX),
        "signing_secret": endpoints.show_secret(
            endpoint=shop.endpoints.get(environment=Environment.LIVE), by=_BY, at=timezone.now()
        ),
        "api_key": _new_key(seller),
    }


def _new_token(integrator: Integrator, environment: Environment) -> str:
    now = timezone.now()
    for token in integrator.tokens.filter(environment=environment).valid(at=now):
        tokens.revoke(token=token, by=_BY, at=now)
    return tokens.issue(integrator=integrator, environment=environment, by=_BY, at=now).clear_text


def _new_key(seller: Seller) -> str:
    now = timezone.now()
    for key in seller.keys.filter(revoked_at=None):
        keys.revoke(key=key, by=_BY, at=now)
    return keys.issue(seller=seller, by=_BY, at=now).clear_text
