"""Shows refusals of actions on the admin's forms."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from delivery.errors import DeliveryError
from delivery.refusals import refusal


class RefusalsAsMessages:
    """Mixin: a DeliveryError raised while a form is saved becomes a message on the form's page; nothing is saved."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)  # type: ignore[misc]  # a ModelAdmin follows
        except DeliveryError as error:
            messages.error(request, refusal(error))
            return HttpResponseRedirect(request.get_full_path())
