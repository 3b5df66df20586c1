"""Words as the full-text index knows them: English stemmed, Japanese and Chinese as pairs of characters."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator
from functools import lru_cache

_CJK = r"\u3005\u3007\u3041-\u309f\u30a0-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003134f"
_RUNS = re.compile(rf"([{_CJK}]+)|((?:[^\W{_CJK}]|\d)+)")
_THOUSANDS = re.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")
_HIRAGANA = re.compile(r"^[\u3041-\u309f]+$")
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s\b")
_LONGEST = 64
_WORDS = """
    a about an and any are as at be been but by can could did do does for from had has have how i if in into is
    it its many me much my no not of on or our she should so some such than that the their them then there these
    they this to up was we were what when where which while who whom whose why will with would you your he her
    his
"""
STOP = frozenset(_WORDS.split())
"""English words that say nothing about what is asked for."""
_CJK_WORDS = """
    です ます した して され これ それ ある いる こと もの 何か 何で どこ だれ 誰が どの なに なん いつ ので から まで のは では には とは ます ての たの でし まし すか たか のか のよ
    よう うな とい いう 什么 多少 哪里 哪个 谁是 怎么 是什 的是
"""
_CJK_STOP = frozenset(_CJK_WORDS.split())


def normalise(text: str) -> str:
    """NFKC, case folded, thousands joined: full-width letters are plain ones, `1,000` is `1000`."""
    return _THOUSANDS.sub("", unicodedata.normalize("NFKC", text)).casefold()


def terms(text: str) -> Iterator[str]:
    """The terms of a text, in order, repeated as often as they stand there."""
    for cjk, word in _RUNS.findall(_POSSESSIVE.sub("", normalise(text))):
        if cjk:
            if len(cjk) == 1:
                yield cjk
            for index in range(len(cjk) - 1):
                yield cjk[index : index + 2]
        else:
            yield from _word(word)


def _word(word: str) -> Iterator[str]:
    if "_" in word:
        yield from (_stem(part) for part in word.split("_") if part)
    elif len(word) <= _LONGEST:
        yield _stem(word)


def query_terms(text: str) -> list[str]:
    """The distinct terms of a question, without those that say nothing; all of them where nothing else is left."""
    found = list(dict.fromkeys(terms(text)))
    kept = [term for term in found if not is_stop(term)]
    return kept or found


def is_stop(term: str) -> bool:
    """Whether a term says nothing about what is asked for."""
    return term in STOP or term in _CJK_STOP


def is_weak(term: str) -> bool:
    """Whether a term is a pair of hiragana: mostly grammar."""
    return bool(_HIRAGANA.match(term))


def number(term: str) -> int:
    """What the index keeps of a term: 32 bits."""
    return zlib.crc32(term.encode())


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    if not word.isascii() or len(word) < 3 or not word.isalpha() or word in STOP:  # noqa: PLR2004 - nothing to take off
        return word
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]  # noqa: ANN202 - the library has no types
    import snowballstemmer  # noqa: PLC0415 - only where text is indexed or searched

    return snowballstemmer.stemmer("english")
