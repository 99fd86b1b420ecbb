"""URLs of the panel. Account and environment are part of the path; `panel.base` checks who may open it."""

from types import ModuleType
from typing import Any

from django.urls import URLPattern, URLResolver, include, path, register_converter
from django.urls.converters import StringConverter
from django.views.generic import View

from panel.dispatch.views import board, drivers
from panel.integrators.views import (
    account,
    alerts,
    connections,
    deliveries,
    drafts,
    pickup_points,
    policy,
    requests,
    stops,
    tokens,
    uploads,
)
from panel.sellers.views import (
    carriers,
    invoices,
    manifests,
    order_forms,
    order_imports,
    orders,
    scan,
    sellers,
    shop_orders,
    simulators,
)
from panel.sellers.views import connections as seller_connections
from panel.staff.views import personal_data, setup, streets
from panel.views import events, home, maps, postcodes, refused_calls, reports, search, team, webhook
from panel.views.endpoint_owners import OfAccount, OfSeller, SellerUpdates


class _EnvironmentConverter(StringConverter):
    regex = "live|sandbox"


register_converter(_EnvironmentConverter, "environment")


def _team(page: type[team.TeamPage], change: type[team.TeamChange], prefix: str = "") -> list[URLPattern]:
    """The pages of the people of an account, or of a seller with `prefix` before their names."""
    return [
        path("team/", page.as_view(), name=f"{prefix}team"),
        path("team/invitations/<int:invitation>/<str:change>/", change.as_view(), name=f"{prefix}team_invitation"),
        path("team/members/<int:membership>/<str:change>/", change.as_view(), name=f"{prefix}team_member"),
    ]


def _shops(pages: ModuleType, prefix: str = "") -> list[URLPattern]:
    """The pages of connected shops of an account, or of a seller with `prefix` before their names."""
    return [
        path("connections/", pages.Connections.as_view(), name=f"{prefix}connections"),
        path("connections/<str:connection>/", pages.ConnectionPage.as_view(), name=f"{prefix}connection"),
        path("connections/<str:connection>/secret/", pages.Secret.as_view(), name=f"{prefix}connection_secret"),
        path("connections/<str:connection>/try/", pages.TryOut.as_view(), name=f"{prefix}connection_try"),
        path("connections/<str:connection>/remove/", pages.Remove.as_view(), name=f"{prefix}connection_remove"),
    ]


def _endpoints(owner: type[View]) -> list[URLPattern | URLResolver]:
    """The pages of endpoints: of the first one, or with `endpoints/<number>/` before their paths any other."""

    def page(route: str, view: type[View], name: str) -> URLPattern:
        made: Any = type(view.__name__, (view, owner), {"__module__": view.__module__, "__doc__": view.__doc__})
        pattern: URLPattern = path(route, made.as_view(), name=f"{made.url_prefix}{name}")
        return pattern

    pages = [
        page("events/", events.Events, "events"),
        page("events/export/", events.EventsExport, "events_export"),
        page("events/resend/", events.ResendRange, "events_resend"),
        page("events/resend/selected/", events.ResendSelected, "events_resend_selected"),
        page("events/progress/", events.Progress, "events_progress"),
        page("events/<uuid:event>/", events.Event, "event"),
        page("events/<uuid:event>/resend/", events.Resend, "event_resend"),
        page("webhook/", webhook.Webhook, "webhook"),
        page("webhook/test/", webhook.Test, "webhook_test"),
        page("webhook/test/<uuid:event>/", webhook.TestResult, "webhook_test_result"),
        page("webhook/switch/", webhook.Switch, "webhook_switch"),
        page("webhook/secret/", webhook.Secret, "webhook_secret"),
        page("webhook/secret/rotate/", webhook.RotateSecret, "webhook_secret_rotate"),
        page("webhook/filter/", webhook.Filter, "webhook_filter"),
        page("webhook/remove/", webhook.Remove, "webhook_remove"),
    ]
    if owner is OfSeller:
        pages.append(page("webhook/authentication/", webhook.Authentication, "webhook_authentication"))
    further = path("endpoints/<int:number>/", include(pages))
    return [*pages, further, page("endpoints/add/", webhook.Add, "webhook_add")]


def _report(prefix: str, view: Any) -> list[URLPattern]:
    """The page of a report, and the file of each of its tables."""
    files = [
        path(f"{prefix}export/{table}/", view.as_view(), {"table": table}, f"{view.url_name}_{table}_export")
        for table in view.tables
    ]
    return [path(prefix, view.as_view(), name=view.url_name), *files]


_account: list[URLPattern | URLResolver] = [
    path("", account.Overview.as_view(), name="overview"),
    path("plot/", account.Plot.as_view(), name="plot"),
    path("money/", account.Money.as_view(), name="money"),
    path("deliveries/", deliveries.Deliveries.as_view(), name="deliveries"),
    path("deliveries/export/", deliveries.DeliveriesExport.as_view(), name="deliveries_export"),
    path("deliveries/request/", requests.Request.as_view(), name="request"),
    path("deliveries/request/price/", requests.Price.as_view(), name="request_price"),
    path("deliveries/upload/", uploads.Upload.as_view(), name="upload"),
    path("deliveries/upload/template/export/", uploads.Template.as_view(), name="upload_template"),
    path("deliveries/upload/<uuid:draft>/", uploads.Draft.as_view(), name="upload_draft"),
    path("deliveries/upload/<uuid:draft>/advance/", uploads.Advance.as_view(), name="upload_advance"),
    path("deliveries/upload/<uuid:draft>/confirm/", uploads.Confirm.as_view(), name="upload_confirm"),
    path("deliveries/<uuid:delivery>/cancel/", requests.Cancel.as_view(), name="cancel"),
    path("deliveries/<uuid:delivery>/receipt/", requests.Receipt.as_view(), name="receipt"),
    path("places/", maps.AccountPlaces.as_view(), name="places"),
    path("pickup-points/", pickup_points.PickupPoints.as_view(), name="pickup_points"),
    path("pickup-points/<uuid:pickup>/", pickup_points.PickupPointPage.as_view(), name="pickup_point"),
    path("pickup-points/<uuid:pickup>/<str:change>/", pickup_points.Change.as_view(), name="pickup_point_change"),
    path("deliveries/<uuid:delivery>/", deliveries.Delivery.as_view(), name="delivery"),
    path("deliveries/<uuid:delivery>/stops/<str:point>/", stops.Stop.as_view(), name="stop"),
    path("policy/", policy.Policy.as_view(), name="policy"),
    path("deliveries/<uuid:delivery>/sandbox/<str:move>/", deliveries.Move.as_view(), name="sandbox_move"),
    path("shop-orders/", drafts.Drafts.as_view(), name="drafts"),
    path("shop-orders/<uuid:shop_order>/", drafts.DraftPage.as_view(), name="draft"),
    path("shop-orders/<uuid:shop_order>/request/", drafts.Request.as_view(), name="draft_request"),
    path("shop-orders/<uuid:shop_order>/drop/", drafts.Drop.as_view(), name="draft_drop"),
    path("shop-orders/<uuid:shop_order>/back/", drafts.TakeBack.as_view(), name="draft_back"),
    *_shops(connections),
    *_report("report/", reports.Account),
    path("report/deliveries/", reports.Deliveries.as_view(), name="report_deliveries"),
    path("report/deliveries/export/", reports.DeliveriesExport.as_view(), name="report_deliveries_export"),
    *_endpoints(OfAccount),
    path("tokens/", tokens.Tokens.as_view(), name="tokens"),
    path("tokens/<uuid:token>/", tokens.Token.as_view(), name="token"),
    path("tokens/<uuid:token>/rotate/", tokens.Rotate.as_view(), name="token_rotate"),
    path("tokens/<uuid:token>/revoke/", tokens.Revoke.as_view(), name="token_revoke"),
    path("refused-calls/", refused_calls.RefusedCalls.as_view(), name="refused_calls"),
    path("refused-calls/<uuid:call>/", refused_calls.RefusedCall.as_view(), name="refused_call"),
    path("updates/", account.Updates.as_view(), name="updates"),
    path("alerts/", alerts.Alerts.as_view(), name="alerts"),
    path("alerts/choose/", alerts.Choose.as_view(), name="alerts_choose"),
    path("alerts/times/", alerts.SetTimes.as_view(), name="alerts_times"),
    path("alerts/test/", alerts.Test.as_view(), name="alerts_test"),
    path("alerts/url/", alerts.SetUrl.as_view(), name="alerts_url"),
    path("setup/sheet/", setup.Sheet.as_view(), name="setup_sheet"),
    *_team(team.AccountTeam, team.AccountChange),
    path("activity/", account.Activity.as_view(), name="activity"),
]

_seller = [
    path("", sellers.Keys.as_view(), name="seller"),
    path("keys/<int:key>/rename/", sellers.Rename.as_view(), name="key_rename"),
    path("keys/<int:key>/revoke/", sellers.Revoke.as_view(), name="key_revoke"),
    path("simulator/", simulators.SellerFreightSimulator.as_view(), name="seller_simulator"),
    path("orders/", orders.Orders.as_view(), name="seller_orders"),
    path("orders/export/", orders.OrdersExport.as_view(), name="seller_orders_export"),
    path("orders/new/", order_forms.NewOrder.as_view(), name="seller_order_new"),
    path("orders/new/freight/", order_forms.NewOrderFreight.as_view(), name="seller_order_new_freight"),
    path("orders/import/", order_imports.ImportOrders.as_view(), name="seller_import"),
    path("orders/import/template/export/", order_imports.Template.as_view(), name="seller_import_template"),
    path("orders/import/<uuid:draft>/", order_imports.Imported.as_view(), name="seller_import_draft"),
    path("orders/import/<uuid:draft>/advance/", order_imports.Advance.as_view(), name="seller_import_advance"),
    path("orders/import/<uuid:draft>/confirm/", order_imports.Confirm.as_view(), name="seller_import_confirm"),
    path("orders/<int:order>/", orders.OrderPage.as_view(), name="seller_order"),
    path("orders/<int:order>/move/", orders.MoveOrder.as_view(), name="seller_order_move"),
    path("orders/<int:order>/correct/", order_forms.CorrectOrder.as_view(), name="seller_order_correct"),
    path(
        "orders/<int:order>/correct/freight/",
        order_forms.CorrectOrderFreight.as_view(),
        name="seller_order_correct_freight",
    ),
    path("orders/<int:order>/cancel/", orders.CancelOrder.as_view(), name="seller_order_cancel"),
    path("orders/<int:order>/invoice/", orders.OrderInvoice.as_view(), name="seller_order_invoice"),
    path("orders/<int:order>/carrier/", carriers.AssignCarrier.as_view(), name="seller_order_carrier"),
    path("orders/labels/", manifests.Labels.as_view(), name="seller_labels"),
    path("shop-orders/", shop_orders.Drafts.as_view(), name="seller_drafts"),
    path("shop-orders/<uuid:shop_order>/", shop_orders.DraftPage.as_view(), name="seller_draft"),
    path("shop-orders/<uuid:shop_order>/freight/", shop_orders.DraftFreight.as_view(), name="seller_draft_freight"),
    path("shop-orders/<uuid:shop_order>/drop/", shop_orders.Drop.as_view(), name="seller_draft_drop"),
    path("shop-orders/<uuid:shop_order>/back/", shop_orders.TakeBack.as_view(), name="seller_draft_back"),
    *_shops(seller_connections, "seller_"),
    path("manifests/", manifests.Manifests.as_view(), name="seller_manifests"),
    path("manifests/<int:manifest>/", manifests.ManifestPage.as_view(), name="seller_manifest"),
    path("manifests/<int:manifest>/file/", manifests.ManifestFile.as_view(), name="seller_manifest_file"),
    path("manifests/<int:manifest>/close/", manifests.CloseManifest.as_view(), name="seller_manifest_close"),
    path("manifests/<int:manifest>/add/", manifests.AddToManifest.as_view(), name="seller_manifest_add"),
    path(
        "manifests/<int:manifest>/remove/",
        manifests.RemoveFromManifest.as_view(),
        name="seller_manifest_remove",
    ),
    path("manifests/<int:manifest>/delete/", manifests.DeleteManifest.as_view(), name="seller_manifest_delete"),
    *_report("report/", reports.OneSeller),
    path("invoices/", invoices.Invoices.as_view(), name="seller_invoices"),
    path("invoices/export/", invoices.InvoicesExport.as_view(), name="seller_invoices_export"),
    path("invoices/<int:invoice>/", invoices.InvoicePage.as_view(), name="seller_invoice"),
    path("invoices/<int:invoice>/unlink/", invoices.UnlinkInvoice.as_view(), name="seller_invoice_unlink"),
    path("invoices/<int:invoice>/void/", invoices.MarkInvoiceVoid.as_view(), name="seller_invoice_void"),
    path("invoices/<int:invoice>/file/", invoices.InvoiceFile.as_view(), name="seller_invoice_file"),
    path("team/receiver-mails/", sellers.ReceiverMails.as_view(), name="seller_mails"),
    path("sheet/", sellers.Sheet.as_view(), name="seller_sheet"),
    *_team(team.SellerTeam, team.SellerChange, "seller_"),
    path("refused-calls/", refused_calls.SellerRefusedCalls.as_view(), name="seller_refused_calls"),
    path("refused-calls/<uuid:call>/", refused_calls.SellerRefusedCall.as_view(), name="seller_refused_call"),
    *_endpoints(OfSeller),
    path("updates/", SellerUpdates.as_view(), name="seller_updates"),
]

app_name = "panel"
urlpatterns = [
    path("", home.Home.as_view(), name="home"),
    path("search/", search.SearchPage.as_view(), name="search"),
    path("work/", home.Work.as_view(), name="work"),
    path("deliveries/<uuid:delivery>/", deliveries.AnyDelivery.as_view(), name="any_delivery"),
    path("board/", board.Board.as_view(), name="board"),
    path("board/routes/", board.Routes.as_view(), name="board_routes"),
    path("map/<str:version>.pmtiles", maps.MapFile.as_view(), name="map_file"),
    path("postcodes/", postcodes.Postcode.as_view(), name="postcode"),
    path("map/streets/", maps.Streets.as_view(), name="map_streets"),
    path("streets/", streets.Streets.as_view(), name="streets"),
    path("streets/progress/", streets.Progress.as_view(), name="streets_progress"),
    path("board/updates/<environment:environment>/", board.Updates.as_view(), name="board_updates"),
    path("board/cards/", board.Cards.as_view(), name="board_cards"),
    path("board/positions/", board.Positions.as_view(), name="board_positions"),
    path("board/search/", board.Search.as_view(), name="board_search"),
    path("board/on-duty/", board.OnDuty.as_view(), name="board_on_duty"),
    path("board/goods/<int:goods>/back/", board.GoodsBack.as_view(), name="board_goods_back"),
    path("board/assign/", board.Assign.as_view(), name="board_assign"),
    path("board/<uuid:delivery>/drivers/", board.Drivers.as_view(), name="board_drivers"),
    path("board/<uuid:delivery>/way/", board.Way.as_view(), name="board_way"),
    path("board/<uuid:delivery>/<str:move>/", board.Move.as_view(), name="board_move"),
    path("scan/", scan.Shell.as_view(), name="scan"),
    path("scan/sw.js", scan.Worker.as_view(), name="scan_worker"),
    path("scan/state/", scan.State.as_view(), name="scan_state"),
    path("scan/movements/", scan.Movements.as_view(), name="scan_movements"),
    path("drivers/", drivers.Drivers.as_view(), name="drivers"),
    path("drivers/<uuid:driver>/", drivers.DriverPage.as_view(), name="driver"),
    path("drivers/<uuid:driver>/link/", drivers.Link.as_view(), name="driver_link"),
    path("drivers/<uuid:driver>/phones/<uuid:device>/end/", drivers.EndSession.as_view(), name="driver_phone_end"),
    *_report("reports/", reports.AllAccounts),
    *_report("reports/sellers/", reports.AllSellers),
    path("alerts/", alerts.AllAlerts.as_view(), name="all_alerts"),
    path("accounts/new/", setup.NewAccount.as_view(), name="setup_new"),
    path("accounts/new/places/", maps.Places.as_view(), name="setup_places"),
    path("sellers/new/", sellers.NewSeller.as_view(), name="seller_new"),
    path("personal-data/", personal_data.PersonalData.as_view(), name="personal_data"),
    path("accounts/<uuid:account>/<environment:environment>/", include(_account)),
    path("sellers/<int:seller>/<environment:environment>/", include(_seller)),
]
