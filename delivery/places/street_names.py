"""Names of streets as people and files write them: what two spellings of one street have in common. Pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

from common.brazil.municipalities import plain

LONGEST = 255  # characters that are read of a name
# Of the kilometre of a road, in words of `_words`: `km 22`, `km 22 5` (22.5), `km22`.
_KILOMETRE = re.compile(r"\b(?:km|quilometro) ?(\d{1,4})(?: (\d{1,3}))?\b")
_KINDS = {
    "rua": "r", "avenida": "av avn aven avda", "travessa": "tv trav tr", "alameda": "al alam", "praca": "pc pca pr",
    "estrada": "est estr", "rodovia": "rod", "largo": "lg lgo", "viela": "vla", "vila": "vl", "beco": "bc",
    "ladeira": "ld lad", "passagem": "psg pass", "parque": "pq pque", "jardim": "jd jard", "via": "",
    "viaduto": "vd viad", "quadra": "qd", "conjunto": "cj conj", "servidao": "sv serv", "caminho": "cam",
    "acesso": "ac", "linha": "lin", "boulevard": "bv blvd bulevar", "calcada": "", "escadaria": "", "ramal": "",
    "setor": "",
    "loteamento": "lot", "rotatoria": "", "marginal": "",
}  # fmt: skip  # a table
# What a street's name has before the name of a person, and may be left out.
_TITLES = {
    "doutor": "dr", "doutora": "dra", "professor": "prof", "professora": "profa", "general": "gal gen",
    "coronel": "cel", "marechal": "mal", "major": "maj", "capitao": "cap", "tenente": "ten", "sargento": "sgt",
    "soldado": "sd", "almirante": "alm", "brigadeiro": "brig", "comandante": "cmte cte", "padre": "pe", "frei": "fr",
    "dom": "", "dona": "", "monsenhor": "mons", "conego": "con", "cardeal": "card", "madre": "", "irma": "",
    "presidente": "pres", "governador": "gov", "senador": "sen", "deputado": "dep", "prefeito": "pref",
    "vereador": "ver", "ministro": "min", "desembargador": "des", "conselheiro": "cons", "embaixador": "emb",
    "engenheiro": "eng engo", "arquiteto": "arq", "maestro": "", "jornalista": "", "delegado": "", "expedicionario": "",
}  # fmt: skip  # a table
_OTHERS = {"santo": "sto", "santa": "sta", "sao": "s", "nossa": "nsa n", "senhora": "sra", "junior": "jr"}
_NUMBERS = [
    "zero", "um", "dois", "tres", "quatro", "cinco", "seis", "sete", "oito", "nove", "dez", "onze", "doze", "treze",
    "quatorze", "quinze", "dezesseis", "dezessete", "dezoito", "dezenove", "vinte",
]  # fmt: skip  # a list
_SMALL = {"de", "da", "do", "das", "dos", "e", "d"}
_UNITS = range(1, 10)


def _spelled(table: dict[str, str]) -> dict[str, str]:
    """Each word and its abbreviations, with the word that they stand for."""
    return {short: word for word, shorts in table.items() for short in (word, *shorts.split())}


def _roman(number: int) -> str:
    tens, units = divmod(number, 10)
    return "x" * tens + ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")[units]


_KIND_OF, _TITLE_OF, _OTHER_OF = _spelled(_KINDS), _spelled(_TITLES), _spelled(_OTHERS)
_NUMBER_OF = {
    **{word: number for number, word in enumerate(_NUMBERS)},
    "primeiro": 1, "primeira": 1, "segundo": 2, "terceiro": 3, "catorze": 14, "trinta": 30,
}  # fmt: skip  # a table
_ROMAN_OF = {_roman(number): number for number in range(1, 40)}
_ORDINAL = re.compile(r"0*(\d{1,4})[oa]?")
_SAME_SOUND = str.maketrans({"y": "i", "z": "s", "w": "v"})
_TWICE = re.compile(r"([a-z])\1")


@dataclass(frozen=True)
class StreetName:
    """What tells a street from others.

    `key` is equal for all spellings: it has no kind of street, no titles and no small words. `kind` is empty if none is
    written. `whole` has the titles too. `metres` is the kilometre of a road that the text names, in metres.
    """

    key: str
    kind: str
    whole: str
    metres: int | None = None


@lru_cache(maxsize=5_000)
def read(text: str) -> StreetName:
    """The name of a street. `key` is empty if there is none in the text."""
    words, metres = _without_kilometre(" ".join(_words(text)))
    kind = ""
    if len(words) > 1 and words[0] in _KIND_OF:
        kind, words = _KIND_OF[words[0]], words[1:]
    spelled = [_TITLE_OF.get(word, _OTHER_OF.get(word, word)) for word in words if word not in _SMALL]
    if not spelled:  # `Rua D`, `Rua E`
        spelled = words
    spelled = _numbers(spelled)
    named = [word for word in spelled if word not in _TITLES] or spelled
    of_kilometre = [] if metres is None else ["km"]
    key = " ".join([*map(_sound, named), *of_kilometre])
    return StreetName(key, kind, " ".join([kind, *map(_sound, spelled), *of_kilometre]).strip(), metres)


def kilometre(text: str) -> int | None:
    """The kilometre that a text names, such as `km 22,5`, in metres."""
    return _without_kilometre(" ".join(_words(text)))[1]


def _words(text: str) -> list[str]:
    return plain(text[:LONGEST].replace(".", " ")).split()


def _without_kilometre(line: str) -> tuple[list[str], int | None]:
    found = _KILOMETRE.search(line)
    if found is None:
        return line.split(), None
    metres = 1000 * int(found[1]) + int((found[2] or "").ljust(3, "0"))
    return [*line[: found.start()].split(), *line[found.end() :].split()], metres


def _numbers(words: list[str]) -> list[str]:
    """Words with numbers in digits: `XV`, `quinze` and `15`, `vinte tres` and `23`, `1o`, and `Pedro II`."""
    written: list[str] = []
    before = -1
    for index, word in enumerate(words):
        number = _NUMBER_OF.get(word, -1)
        if ordinal := _ORDINAL.fullmatch(word):
            number = int(ordinal[1])
        elif word in _ROMAN_OF and len(words) > 1 and (len(word) > 1 or index == len(words) - 1):
            number = _ROMAN_OF[word]  # a street may be called `I` or `V`
        if number in _UNITS and before in (20, 30) and not word.isdigit():
            written[-1] = str(before + number)
        else:
            written.append(word if number < 0 else str(number))
        before = number
    return written


def _sound(word: str) -> str:
    """Without what names differ in and sound the same: `Luiz` and `Luis`, `Thereza` and `Teresa`, `Mello`."""
    same = word.replace("ph", "f").replace("th", "t").translate(_SAME_SOUND)
    return _TWICE.sub(r"\1", same)
