"""The connected shops of an account, whose orders become deliveries."""

from typing import Any

from common import clock
from common.errors import DomainError
from common.shops.drafts import Outcome
from delivery.connections import actions, models
from delivery.errors import ConnectionNotFound, InvalidSecret, TooManyConnections
from delivery.refusals import refusal
from panel import shop_pages
from panel.base import RequestingView
from panel.integrators.shop_forms import ConnectForm, SettingsForm, settings_of


class _OfAccount(RequestingView):
    url_prefix = ""
    too_many: type[DomainError] = TooManyConnections
    invalid_secret: type[DomainError] = InvalidSecret
    not_found: type[DomainError] = ConnectionNotFound

    def refusal(self, error: DomainError) -> str:
        return refusal(error)

    @property
    def is_suspended(self) -> bool:
        return self.account.is_suspended

    @property
    def rows(self) -> Any:
        found = models.Connection.objects.filter(integrator=self.account, environment=self.environment)
        return found.filter(removed_at=None).select_related("integrator", "pickup").order_by("created_at")

    @property
    def points(self) -> Any:
        return self.account.pickup_points.active()

    def new_form(self, data: Any = None) -> ConnectForm:
        return ConnectForm(data, points=self.points)

    def settings_form(self, connection: models.Connection, data: Any = None) -> SettingsForm:
        return SettingsForm(data, points=self.points, initial=settings_of(connection))

    def connect(self, **chosen: Any) -> tuple[models.Connection, str]:
        return actions.connect(integrator=self.account, environment=self.environment, by=self.actor, **chosen)

    def change(self, connection: models.Connection, settings: actions.Settings) -> None:
        actions.change(connection=connection, settings=settings, by=self.actor, at=clock.now())

    def change_secret(self, connection: models.Connection, secret: str) -> None:
        actions.change_secret(connection=connection, secret=secret, by=self.actor, at=clock.now())

    def try_out(self, connection: models.Connection) -> Outcome:
        return actions.try_out(connection=connection, at=clock.now())

    def remove(self, connection: models.Connection) -> None:
        actions.remove(connection=connection, by=self.actor, at=clock.now())


class Connections(_OfAccount, shop_pages.Connections):
    pass


class ConnectionPage(_OfAccount, shop_pages.ConnectionPage):
    pass


class Secret(_OfAccount, shop_pages.Secret):
    pass


class TryOut(_OfAccount, shop_pages.TryOut):
    pass


class Remove(_OfAccount, shop_pages.Remove):
    pass
