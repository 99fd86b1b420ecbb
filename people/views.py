"""allauth's views, where this product does more."""

from typing import Any

from allauth.mfa.totp import views as totp
from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext

from people import enrolment


class ActivateTOTPView(totp.ActivateTOTPView):
    """Set up a second factor, using the enrolment code up in the same transaction."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        code = form.cleaned_data.get("enrolment_code")
        if code is not None and not enrolment.use(user=self.request.user, code=code, at=timezone.now()):
            form.add_error("enrolment_code", gettext("This code is wrong, used or too old. Ask for a new one."))
            return self.form_invalid(form)
        return super().form_valid(form)
