"""How tests move deliveries in the admin: by the buttons of a delivery's page and by the actions of the list."""

from django.contrib.messages import get_messages
from django.urls import reverse

from delivery.models import Delivery

LIST = reverse("admin:delivery_delivery_changelist")


def page(delivery):
    return reverse("admin:delivery_delivery_change", args=[delivery.pk])


def press(client, delivery, name, **fields):
    """A button on the delivery's page. Returns what the page says then."""
    url = reverse("admin:delivery_delivery_move", args=[delivery.pk, name])
    response = client.post(url, fields, follow=True)
    return [str(message) for message in get_messages(response.wsgi_request)] or [
        str(message) for message in response.context["messages"]
    ]


def choose(client, name, *deliveries, **fields):
    """An action of the list."""
    data = {"action": f"move_{name}", "_selected_action": [str(delivery.pk) for delivery in deliveries], **fields}
    response = client.post(LIST, data, follow=True)
    return [str(message) for message in response.context["messages"]]


def agree(client, name, *deliveries, **fields):
    """What the page that asks before an action of the list sends when the dispatcher agrees."""
    data = {"action": f"move_{name}", "_selected_action": [str(delivery.pk) for delivery in deliveries]}
    page = client.post(LIST, data).context
    agreed = {f"agreed-{row.pk}": row.agreed for row in page["rows"]}
    return {**agreed, "confirmed": "yes", **fields}


def status(delivery):
    fresh = Delivery.objects.get(pk=delivery.pk)
    return fresh.status, fresh.route_status
