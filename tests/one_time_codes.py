"""An authenticator app."""

import time

from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User

_PERIOD = 30
_LEFT = 3


def set_up(user: User) -> str:
    """Make an app the user's second factor. Returns its secret."""
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(user, secret)
    return str(secret)


def code_of(secret: str) -> str:
    """The code of now, which can be used for some more seconds: at its end, wait for the next one."""
    left = _PERIOD - time.time() % _PERIOD
    if left < _LEFT:
        time.sleep(left)
    return totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // _PERIOD))
