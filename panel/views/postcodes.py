"""What forms fill in for a CEP."""

import hashlib
from dataclasses import asdict

from django.http import HttpRequest, HttpResponse, JsonResponse

from common.api.rate_limit import Limits, limiter
from common.brazil.states import postcode_of
from delivery.places import address_table
from panel.base import LoggedInView, user_of

# Of a person, who types one CEP after the other.
_LIMITS = Limits(per_second=5, per_hour=2_000)


class Postcode(LoggedInView):
    """Street, district, city and state of `zipcode`, as JSON; empty where they are not known."""

    def get(self, request: HttpRequest) -> HttpResponse:
        digest = hashlib.sha256(f"postcodes {user_of(request).pk}".encode()).digest()
        standing = limiter().count(digest, _LIMITS, caller=None)
        if standing and standing.retry_after:
            return HttpResponse(status=429, headers={"Retry-After": str(standing.retry_after)})
        known = address_table.street_of(postcode_of(request.GET.get("zipcode", "")))
        return JsonResponse(asdict(known) if known else {})
