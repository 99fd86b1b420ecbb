"""Secrets that are needed in clear text again."""

import pytest
from cryptography.fernet import Fernet, InvalidToken

from common import credentials


def test_what_was_encrypted_by_a_key_is_not_read_once_the_key_is_gone(settings):
    """Also by a process that has read it before."""
    old, new = (Fernet.generate_key().decode() for _key in range(2))
    settings.CREDENTIALS_KEYS = [old]
    ciphertext = credentials.encrypt("whsec_x")
    assert credentials.decrypt(ciphertext) == "whsec_x"

    settings.CREDENTIALS_KEYS = [new]

    with pytest.raises(InvalidToken):
        credentials.decrypt(ciphertext)
