"""What an authenticator app shows."""

import time

from allauth.mfa.totp.internal import auth as totp

_PERIOD = 30
_LEFT = 3


def code_of(secret: str) -> str:
    """The code of now, which can be used for some more seconds: at its end, wait for the next one."""
    left = _PERIOD - time.time() % _PERIOD
    if left < _LEFT:
        time.sleep(left)
    return totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // _PERIOD))
