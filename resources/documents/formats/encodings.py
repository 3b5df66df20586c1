"""Which encoding bytes without a mark are in, where they are no UTF-8.

Single-byte encodings differ in a few letters only, so what decides is whether the letters beyond ASCII, and the commonest
words, are those of one language. Where two fit alike the commoner encoding wins: Windows-1252 before all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_SAMPLE = 200_000
_FOREIGN = 0.35
"""Of all letters, the share beyond ASCII that no language in Latin letters reaches."""
_SURE = 0.75
_WORDS_COUNT = 0.4
_WORD = re.compile(r"[^\W\d_]+")
# The commoner first.
_LATIN = (
    "cp1252", "iso8859_15", "cp1250", "cp1257", "cp1254", "iso8859_2", "iso8859_4", "iso8859_10", "mac_roman", "cp850", "cp437",
    "cp852", "mac_latin2",
)  # fmt: skip
_OTHERS = [
    "cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "koi8_u", "cp866", "iso8859_5", "mac_cyrillic",
    "cp1253", "iso8859_7", "cp1255", "iso8859_8", "cp1256", "cp874", "utf_16_le", "utf_16_be",
]  # fmt: skip
_SIGNS = frozenset(
    "\u201c\u201d\u201e\u2018\u2019\u201a\u2013\u2014\u2026\u2039\u203a\u2022\u2122\u2020\u00d7\u00a0\u00ad€£§°«»·©®±²³µ÷¿¡½¼¾ªº"
)
_INSIDE = frozenset("\u2019\u00ad·")
_LANGUAGES = {
    "fr": ("éèêëàâæçîïôûùüœÿ", "le la les de des du et en un une est dans pour que qui sur pas avec nous vous au plus par il prix ville nom"),
    "de": ("äöüßé", "der die das und ist nicht ein eine mit den von zu im auf für sich dem auch es wird am als an bei"),
    "es": ("áéíóúñü", "el la los las de del y en un una es que por para con no se su al como lo este"),
    "pt": ("áâãàçéêíóôõúü", "o a os as de do da e em um uma que por para com não se na no dos das mais foi"),
    "it": ("àèéìíòóùú", "il lo la gli le di del della e in un una che per con non si da al sono come nel"),
    "ca": ("àçèéíïòóúü", "el la els les de del i en un una que per amb no es al dels"),
    "sv": ("åäöé", "och att det som en ett är för på av med den till inte om har de kan vi"),
    "da": ("æøåé", "og at det som en et er for på af med den til ikke om har de kan jeg i"),
    "fi": ("äöå", "ja on ei se että hän oli mutta kun niin myös joka tai ovat"),
    "is": ("áðéíóúýþæö", "og að er sem til við um en það ekki með hann var fyrir"),
    "nl": ("ëïéèöüáóí", "de het een en van is in dat op te zijn met voor niet aan er"),
    "et": ("äöõüšž", "ja on ei et see oli kui ka aga mis oma ning"),
    "pl": ("ąćęłńóśźż", "i w na z do nie jest to że się o po od za dla jak przez"),
    "cs": ("áčďéěíňóřšťúůýž", "a v na se je z do že to s o pro za od jako ale by"),
    "sk": ("áäčďéíĺľňóôŕšťúýž", "a v na sa je z do že to s o pre za od ako ale by"),
    "hu": ("áéíóöőúüű", "a az és hogy nem is egy van de meg ez ha csak volt"),
    "ro": ("ăâîşţșț", "de la un o nu este pe cu din care pentru au mai sau"),
    "hr": ("čćđšž", "i u je na se da su za od s kao ne ili koji"),
    "sl": ("čšž", "in je v na se da so za od ki ne po pri"),
    "lt": ("ąčęėįšųūž", "ir yra kad su iš bet kaip tai ne apie arba į"),
    "lv": ("āčēģīķļņšūž", "un ir ka no ar par bet kas tas uz ne vai"),
    "tr": ("çğıİöşüâî", "ve bir bu için ile de da çok olarak daha ne gibi"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Guess:
    """An encoding, and whether its letters are those of a language: without, a person should look at the text."""

    name: str
    sure: bool


def guess(content: bytes) -> Guess:
    """The encoding of bytes that are no UTF-8; always one that Python knows."""
    sample = content[:_SAMPLE]
    high = sum(byte >= 0x80 for byte in sample)  # noqa: PLR2004 - beyond ASCII
    letters = high + sum(byte | 0x20 in range(0x61, 0x7B) for byte in sample)
    foreign = high > _FOREIGN * letters or b"\x00" in sample or b"\x1b$" in sample
    scores = [(_score(sample.decode(name, "replace")), -place, name) for place, name in enumerate(_LATIN)]
    fit, _, latin = max(scores)
    if fit >= _SURE and (not foreign or all(letter in _SIGNS for letter in _beyond(sample))):
        return Guess(latin, sure=True)
    from charset_normalizer import from_bytes  # noqa: PLC0415 - most texts need none of it

    other = from_bytes(sample, cp_isolation=_OTHERS).best()
    if other is not None and (foreign or other.multi_byte_usage > 0):
        return Guess(other.encoding, sure=True)
    return Guess(latin, sure=fit >= _SURE)


def _beyond(sample: bytes) -> str:
    return "".join(letter for letter in sample.decode(_LATIN[0], "replace") if letter >= "\x80")


def _score(text: str) -> float:
    """How well a text fits the language that it fits best, 0 to about 1.4."""
    beyond = [index for index, letter in enumerate(text) if letter >= "\x80"]
    good: dict[str, int] = {}
    signs = 0
    for index in beyond:
        letter = text[index]
        if letter in _SIGNS:
            signs += letter in _INSIDE or not (_lower(text, index - 1) and _lower(text, index + 1))
        elif letter.isalpha() and not (letter.isupper() and _lower(text, index - 1)):
            plain = "ß" if letter == "ẞ" else letter.lower()
            good[plain] = good.get(plain, 0) + 1
    words = [word.lower() for word in _WORD.findall(text[:20_000])]
    best = 0.0
    for letters, common in _languages():
        known = sum(count for letter, count in good.items() if letter in letters)
        fit = (known + signs) / max(1, len(beyond))
        share = sum(word in common for word in words) / max(1, len(words))
        best = max(best, fit + min(_WORDS_COUNT, share))
    return round(best, 3)


def _lower(text: str, index: int) -> bool:
    return 0 <= index < len(text) and text[index].isalpha() and text[index].islower()


@lru_cache(maxsize=1)
def _languages() -> list[tuple[frozenset[str], frozenset[str]]]:
    return [(frozenset(letters), frozenset(words.split())) for letters, words in _LANGUAGES.values()]
