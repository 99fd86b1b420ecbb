"""Refuses guessable passwords; Django's validators refuse short ones and those that resemble the user's name."""

import re
from itertools import pairwise
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

# Words of this product's domain, which a targeted guess would try.
_CONTEXT = """
rota rotas logistics logistica logística transporte transportes frete freight express delivery deliveries entrega
entregas entregador pedido pedidos order orders loja shop shops driver drivers motorista motoristas motoboy dispatch
dispatcher despacho despachante expedicao expedição integrator integrador integration integracao integração seller
sellers vendedor vendedores admin administrator administrador panel painel staff equipe user usuario usuário token
webhook sandbox live api key chave senha password pass login acesso access brasil brazil paulista saopaulo são paulo rio
"""
CONTEXT_WORDS = frozenset(_CONTEXT.split())
_MAX_EXAMINED = 256  # characters
_MIN_WORD = 4  # the list of common passwords has single letters too
# Characters that follow each other in a password which is only run along.
_ROWS = "abcdefghijklmnopqrstuvwxyz 01234567890 qwertyuiop asdfghjkl zxcvbnm"
_MIN_CHOSEN = 5
_LETTERS = re.compile(r"[^\W\d_]+")


class GuessablePasswordValidator(CommonPasswordValidator):
    """Refuses common passwords, also repeated or with digits and signs around them, and those of CONTEXT_WORDS only.

    Refuses what repeats or continues a few characters too. Several common words are accepted as a passphrase.
    Django's list of common passwords comes from published breaches.
    """

    def validate(self, password: str, user: User | None = None) -> None:
        """Raise ValidationError for such a password."""
        super().validate(password, user)
        examined = password[:_MAX_EXAMINED].lower()
        if examined and _chosen(examined) < _MIN_CHOSEN:
            raise ValidationError(_("It repeats or continues the same few characters."), "pattern")
        words = {_once(word) for word in _LETTERS.findall(examined)}
        if not words:
            return
        if words <= CONTEXT_WORDS:
            raise ValidationError(_("Its words are those of this service, which are tried first."), "context_words")
        if len(words) == 1 and words <= self.passwords and len(*words) >= _MIN_WORD:
            raise ValidationError(_("It is a common password with something around it."), "common_with_more")

    def get_help_text(self) -> Any:
        return _("Not a common password, nor one with digits around it; several words in a row are good.")


def _chosen(text: str) -> int:
    """How many different characters are left of a text without repetitions and runs such as `1234`, `dcba`, `qwer`."""
    once = _once(text)
    breaks = sum(a != b and a + b not in _ROWS and b + a not in _ROWS for a, b in pairwise(once))
    return min(breaks + 1, len(set(once)))


def _once(word: str) -> str:
    """`abcabc` is `abc`: the shortest text of which `word` is a repetition."""
    return word[: (word + word).index(word, 1)]
