"""A guess at the language of a text, from its scripts and its most frequent small words."""

from __future__ import annotations

import re
from collections import Counter

_SAMPLE = 20_000
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
)
_SHARE = 0.15
_KANA_SHARE = 0.04
"""Japanese is full of Han characters; Chinese has no kana at all."""
_WORDS = {
    "en": "the of and to in is that for it with as was on are by this be from or which",
    "de": "der die und das den von ist nicht mit ein eine zu auf für im dem des sich auch als",
    "fr": "le la les de des et est un une que dans pour qui sur pas au avec du ce il",
    "es": "el la los de que en un una es se por con para del las no su al como",
    "it": "il la di che un una per non con del della sono le dei gli nel alla si da",
    "pt": "o a os de que e do da em um uma para com não no na por se dos mais",
    "nl": "de het een van en in is dat op te zijn met voor niet aan er om ook als bij",
}
_SETS = {language: frozenset(words.split()) for language, words in _WORDS.items()}
_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[a-zà-ÿ]+")
_LEAST = 3
_WORD_SHARE = 0.08


def guess_language(text: str) -> str | None:
    """ISO 639-1 code, None when nothing speaks for one."""
    sample = text[:_SAMPLE]
    letters = len(_LETTERS.findall(sample))
    if not letters:
        return None
    for language, script in _SCRIPTS:
        share = len(script.findall(sample)) / letters
        if share > (_KANA_SHARE if language == "ja" else _SHARE):
            return language
    words = Counter(_LATIN.findall(sample.lower()))
    votes = {language: sum(words[word] for word in known) for language, known in _SETS.items()}
    best = max(votes, key=lambda language: votes[language])
    return best if votes[best] >= max(_LEAST, sum(words.values()) * _WORD_SHARE) else None
