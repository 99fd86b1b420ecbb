"""The endpoints of freight by postcode."""

from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from common.api.json_body import one_of
from common.api.openapi import Answer, example_body
from common.api.serializers import BodySerializer
from common.api.views import PayloadWarning
from integration import words
from integration.api.fields import OPTIONAL, PostcodeField, SideField, WeightField, WholeNumberField
from integration.api.views import SellerViewSet
from integration.bodies import MayWarn
from integration.errors import NoCoverage, TooHeavy
from integration.freight import quotes
from integration.freight.calculation import ORDER_SERVICES, Package, Price, Service
from integration.freight.quotes import Quote

_SIDES = ("width", "height", "length")
_FREIGHT: dict[str, Any] = {
    "origin": "01310100", "destination": "40020000", "width": "20", "height": "10", "length": "30", "weight": 1.5,
    "declared_amount": 15000,
}  # fmt: skip  # a quote


@example_body(_FREIGHT)
class QuoteSerializer(BodySerializer):
    """Body of a quote."""

    origin = PostcodeField()
    destination = PostcodeField()
    width = SideField(**OPTIONAL)
    height = SideField(**OPTIONAL)
    length = SideField(**OPTIONAL)
    weight = WeightField(**OPTIONAL)
    declared_amount = WholeNumberField(
        smallest=0,
        error_messages={"invalid": "Deve ser um número inteiro de centavos, a partir de 0: R$ 150,50 é 15050."},
        **OPTIONAL,
    )

    def warnings(self) -> list[PayloadWarning]:
        """Of sides without the others, because the cubed weight needs all three, and of a value that is in reais."""
        sides = [name for name in _SIDES if self.validated_data.get(name)]
        found = [PayloadWarning((name,), "incomplete_sides") for name in sides] if len(sides) < len(_SIDES) else []
        if isinstance(self.initial_data.get("declared_amount"), Decimal):  # 150.00: JSON integers are read as int
            about = ("about", "Escrito com casas decimais, como reais")
            found.append(PayloadWarning(("declared_amount",), "order_cost_differs", values=(about,)))
        return found

    @property
    def shipment(self) -> dict[str, Any]:
        """The arguments of `quotes.quote`."""
        data = self.validated_data
        sides = {f"{name}_cm": int(data[name]) for name in _SIDES if data.get(name)}
        package = Package(weight_g=data.get("weight"), declared_centavos=data.get("declared_amount") or 0, **sides)
        return {"origin": data["origin"], "destination": data["destination"], "package": package}


# Written as a call because `from` is a keyword.
QuoteData = TypedDict("QuoteData", {"from": str, "to": str, "amount": int, "deadline": int})


class QuoteFound(MayWarn, TypedDict):
    success: Literal[True]
    data: QuoteData


class ServicePrice(TypedDict):
    """`service` as an order takes it, `amount` in centavos, `deadline` in business days."""

    service: Annotated[str, one_of(words.ORDER_SERVICES)]
    amount: int
    deadline: int


class ServicesFound(MayWarn, TypedDict):
    success: Literal[True]
    data: list[ServicePrice]


def quote_found(quote: Quote) -> QuoteFound:
    data: QuoteData = {
        "from": str(quote.origin),
        "to": str(quote.destination),
        "amount": quote.price.amount,
        "deadline": quote.price.deadline,
    }
    return {"success": True, "data": data}


def services_found(prices: dict[Service, Price]) -> ServicesFound:
    data: list[ServicePrice] = [
        {"service": ORDER_SERVICES[service], "amount": price.amount, "deadline": price.deadline}
        for service, price in prices.items()
    ]
    return {"success": True, "data": data}


class ShippingViewSet(SellerViewSet):
    """Freight by postcode."""

    errors = (NoCoverage, TooHeavy)

    @extend_schema(
        operation_id="shipping-quote",
        request=QuoteSerializer,
        responses={200: Answer(QuoteFound, "Price in centavos, deadline in business days.")},
    )
    @action(methods=["post"], detail=False, invalid_status=400, changes_nothing=True)
    def quote(self, request: Request) -> Response:
        """Quote freight.

        Price and deadline of one shipment between two postcodes.
        """
        serializer = self.read_body(QuoteSerializer(data=request.data))
        return Response(quote_found(quotes.quote(**serializer.shipment)))

    @extend_schema(
        operation_id="shipping-services",
        request=QuoteSerializer,
        responses={200: Answer(ServicesFound, "The services.")},
    )
    @action(methods=["post"], detail=False, invalid_status=400, changes_nothing=True)
    def services(self, request: Request) -> Response:
        """Quote freight by every service.

        Price and deadline of each service that has a rate for the trip.
        """
        serializer = self.read_body(QuoteSerializer(data=request.data))
        return Response(services_found(quotes.services(**serializer.shipment)))
