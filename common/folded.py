"""Texts in lower case and without accents in SQL, for searches. PostgreSQL's `unaccent` is not part of every server."""

from django.db.models import F, Func, TextField, Value
from django.db.models.functions import Lower

# The letters of Latin-1, which has those of Portuguese. `translate` compares each character with each of them, so
# further alphabets would make searches slower.
_ACCENTED = "ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöùúûüýÿ"
_PLAIN = "AAAAAACEEEEIIIINOOOOOUUUUYaaaaaaceeeeiiiinooooouuuuyy"
_TABLE = str.maketrans(_ACCENTED, _PLAIN)


def folded(text: str) -> str:
    """The text in lower case and without accents, as `Folded` has it in SQL."""
    return text.translate(_TABLE).lower()


class Folded(Lower):
    """A column's text in lower case and without accents."""

    def __init__(self, name: str) -> None:
        super().__init__(Func(F(name), Value(_ACCENTED), Value(_PLAIN), function="translate", output_field=TextField()))
