"""The base of area B's endpoints: who calls, pages of lists, answers with warnings, and paths that no endpoint has."""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from common import clock
from common.api import pagination
from common.api.json_body import Json
from common.api.views import ApiView, PayloadWarning
from common.fields import composed
from integration import bodies
from integration.api import problems
from integration.api.authentication import HasKey, KeyAuthentication
from integration.api.parsers import BoundedJSONParser
from integration.errors import AccountSuspended, InvalidKey, KeyMissing, OrderNotFound, RateLimited, WrongKey
from integration.invoices import actions as invoices
from integration.invoices.models import with_details
from integration.models import ApiKey, Order
from integration.models.order import OrderQuerySet

Row = TypeVar("Row", bound=Model)
_INVALID_CURSOR = "Use o nextCursor de uma resposta aos mesmos filtros, ou comece sem cursor."
FILE = Annotated[str, Json(format="binary")]
# That of any file: clients that are generated read it as bytes, and `text/plain` as text.
ZPL = "application/octet-stream"


def warning_of(doubt: invoices.Doubt, *path: str) -> PayloadWarning:
    candidates = (("candidates", ", ".join(doubt.candidates)),) if doubt.candidates else ()
    return PayloadWarning(path, doubt.code, values=(("about", doubt.about), *candidates))


class IntegrationViewSet(ApiView, ViewSet):
    """JSON bodies with the warnings about what was sent, and errors in the shape of area B."""

    parser_classes = [BoundedJSONParser]
    invalid_status = 422  # the specification's status for an invalid payload; some endpoints have 400
    refusal, refusal_media_type, invalid_query = problems.Refusal, "application/json", "invalid_payload"

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return problems.exception_handler

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        if isinstance(response, Response) and isinstance(response.data, dict):
            self.name_warnings(response.data)
        return super().finalize_response(request, response, *args, **kwargs)

    def name_warnings(self, body: Any) -> None:
        """Add the warnings to the body of an answer, if there are any; where they are errors, `errors` has them."""
        if self._warnings and not self._is_strict:
            body["warnings"] = problems.warned(self._warnings)


@extend_schema(tags=["Order integration"])
class SellerViewSet(IntegrationViewSet):
    """Base of the endpoints of sellers, who authenticate by API key."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [HasKey]

    @property
    def key(self) -> ApiKey:
        assert isinstance(self.request.auth, ApiKey)  # noqa: S101  # nosec B101  # HasKey has checked it
        return self.request.auth

    @property
    def orders(self) -> OrderQuerySet:
        """The orders that the key may see: those of its seller and environment."""
        return Order.objects.of(self.key.seller_id, self.key.environment)

    def order(self, code: str) -> Order:
        """The order with this `orderId`. Raises OrderNotFound."""
        return Order.objects.by_code(self.key.seller, self.key.environment, code)

    def shown(self, code: str, *, shipping_id: int | None = None) -> Response:
        """Everything about the order with this `orderId`. Raises OrderNotFound.

        `shipping_id`: of one that had the `orderId` before it was created again, too.
        """
        orders = with_details(Order.objects.all())
        if shipping_id is None:
            order = orders.by_code(self.key.seller, self.key.environment, code)
        else:
            own = orders.of(self.key.seller_id, self.key.environment).filter(pk=shipping_id).first()
            if own is None or composed(own.code) != composed(code):
                raise OrderNotFound
            order = own
        return Response(bodies.order_shown(order, at=clock.now()))

    @property
    def actor(self) -> str:
        """The caller's name for status logs."""
        return f"key {self.key.hint}"

    def list_page(self, rows: QuerySet[Row], *, scope: str, **options: Any) -> pagination.Page[Row]:
        """The page that the query asks for. `scope` names the list. Raises InvalidQuery or ValidationError."""
        query = self.filterset_class(self.request.query_params, queryset=rows, request=self.request)
        self.check_query(query.invalid, known=query.filters)
        try:
            return pagination.page_in_order(
                query.qs,
                limit=query.limit_of_page,
                cursor=query.form.cleaned_data["cursor"],
                either=query.either,
                order=query.order,
                scope=[scope, str(self.key.seller_id), self.key.environment, *query.sent],
                **options,
            )
        except pagination.InvalidCursor as error:
            raise ValidationError({"cursor": [_INVALID_CURSOR]}) from error


def unknown_path(request: HttpRequest) -> HttpResponse:
    """404, with and without a key; 429 over the limit of a valid one. A call with a valid key can be recorded."""
    call = Request(request, parsers=[BoundedJSONParser()], authenticators=[KeyAuthentication()])
    try:
        with suppress(KeyMissing, InvalidKey, WrongKey, AccountSuspended):
            _authenticated = call.auth
    except RateLimited as error:
        return JsonResponse(
            problems.refused(error).data, status=error.status, json_dumps_params={"ensure_ascii": False}
        )
    return problems.not_found(request)
