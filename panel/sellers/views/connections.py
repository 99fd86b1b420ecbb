"""The connected shops of a seller, whose orders become orders."""

from typing import Any

from common import clock
from common.actors import actor
from common.errors import DomainError
from common.shops.drafts import Outcome
from integration.connections import actions, models
from integration.errors import ConnectionNotFound, InvalidSecret, TooManyConnections
from panel import shop_pages
from panel.base import SellerView
from panel.sellers.order_forms import refusal
from panel.sellers.shop_forms import ConnectForm, SettingsForm, settings_of


class _OfSeller(SellerView):
    url_prefix = "seller_"
    too_many: type[DomainError] = TooManyConnections
    invalid_secret: type[DomainError] = InvalidSecret
    not_found: type[DomainError] = ConnectionNotFound

    def refusal(self, error: DomainError) -> str:
        return refusal(error)

    @property
    def is_suspended(self) -> bool:
        return self.seller.is_suspended

    @property
    def rows(self) -> Any:
        found = models.Connection.objects.filter(seller=self.seller, environment=self.environment, removed_at=None)
        return found.select_related("seller", "company").order_by("created_at")

    @property
    def companies(self) -> Any:
        return self.seller.companies.order_by("pk")

    def new_form(self, data: Any = None) -> ConnectForm:
        return ConnectForm(data, companies=self.companies)

    def settings_form(self, connection: models.Connection, data: Any = None) -> SettingsForm:
        return SettingsForm(data, companies=self.companies, initial=settings_of(connection))

    def connect(self, **chosen: Any) -> tuple[models.Connection, str]:
        return actions.connect(seller=self.seller, environment=self.environment, by=actor(self.request), **chosen)

    def change(self, connection: models.Connection, settings: actions.Settings) -> None:
        actions.change(connection=connection, settings=settings, by=actor(self.request))

    def change_secret(self, connection: models.Connection, secret: str) -> None:
        actions.change_secret(connection=connection, secret=secret, by=actor(self.request))

    def try_out(self, connection: models.Connection) -> Outcome:
        return actions.try_out(connection=connection, at=clock.now())

    def remove(self, connection: models.Connection) -> None:
        actions.remove(connection=connection, by=actor(self.request), at=clock.now())


class Connections(_OfSeller, shop_pages.Connections):
    pass


class ConnectionPage(_OfSeller, shop_pages.ConnectionPage):
    pass


class Secret(_OfSeller, shop_pages.Secret):
    pass


class TryOut(_OfSeller, shop_pages.TryOut):
    pass


class Remove(_OfSeller, shop_pages.Remove):
    pass
