"""URLs of the panel. Account and environment are part of the path; `panel.views.base` checks who may open it."""

from django.urls import include, path, register_converter

from panel.views import (
    activity,
    board,
    deliveries,
    events,
    home,
    overview,
    quickstart,
    refused_calls,
    sandbox,
    sellers,
    tokens,
    webhook,
)


class _EnvironmentConverter:
    regex = "live|sandbox"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(_EnvironmentConverter, "environment")

_account = [
    path("", overview.Overview.as_view(), name="overview"),
    path("plot/", overview.Plot.as_view(), name="plot"),
    path("deliveries/", deliveries.Deliveries.as_view(), name="deliveries"),
    path("deliveries/<uuid:delivery>/", deliveries.Delivery.as_view(), name="delivery"),
    path("deliveries/<uuid:delivery>/sandbox/<str:move>/", sandbox.Move.as_view(), name="sandbox_move"),
    path("events/", events.Events.as_view(), name="events"),
    path("events/resend/", events.ResendMany.as_view(), name="events_resend"),
    path("events/progress/", events.Progress.as_view(), name="events_progress"),
    path("events/<uuid:event>/", events.Event.as_view(), name="event"),
    path("events/<uuid:event>/resend/", events.Resend.as_view(), name="event_resend"),
    path("webhook/", webhook.Webhook.as_view(), name="webhook"),
    path("webhook/test/", webhook.Test.as_view(), name="webhook_test"),
    path("webhook/test/<uuid:event>/", webhook.TestResult.as_view(), name="webhook_test_result"),
    path("webhook/switch/", webhook.Switch.as_view(), name="webhook_switch"),
    path("webhook/secret/", webhook.Secret.as_view(), name="webhook_secret"),
    path("webhook/secret/rotate/", webhook.RotateSecret.as_view(), name="webhook_secret_rotate"),
    path("tokens/", tokens.Tokens.as_view(), name="tokens"),
    path("tokens/<uuid:token>/", tokens.Token.as_view(), name="token"),
    path("tokens/<uuid:token>/rotate/", tokens.Rotate.as_view(), name="token_rotate"),
    path("tokens/<uuid:token>/revoke/", tokens.Revoke.as_view(), name="token_revoke"),
    path("quickstart/", quickstart.Quickstart.as_view(), name="quickstart"),
    path("refused-calls/", refused_calls.RefusedCalls.as_view(), name="refused_calls"),
    path("refused-calls/<uuid:call>/", refused_calls.RefusedCall.as_view(), name="refused_call"),
    path("activity/", activity.Activity.as_view(), name="activity"),
]

_seller = [
    path("", sellers.Keys.as_view(), name="seller"),
    path("keys/<int:key>/revoke/", sellers.Revoke.as_view(), name="key_revoke"),
    path("quickstart/", sellers.Quickstart.as_view(), name="seller_quickstart"),
    path("refused-calls/", refused_calls.SellerRefusedCalls.as_view(), name="seller_refused_calls"),
    path("refused-calls/<uuid:call>/", refused_calls.SellerRefusedCall.as_view(), name="seller_refused_call"),
]

app_name = "panel"
urlpatterns = [
    path("", home.Home.as_view(), name="home"),
    path("board/", board.Board.as_view(), name="board"),
    path("board/routes/", board.Routes.as_view(), name="board_routes"),
    path("board/<uuid:delivery>/drivers/", board.Drivers.as_view(), name="board_drivers"),
    path("board/<uuid:delivery>/<str:move>/", board.Move.as_view(), name="board_move"),
    path("accounts/<uuid:account>/<environment:environment>/", include(_account)),
    path("sellers/<int:seller>/", include(_seller)),
]
