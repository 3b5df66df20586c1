from __future__ import annotations

import json

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpResponse
from interlace.resources.http.body import Part, form_body, json_body, multipart_body


def response(body: bytes, content_type: str = "") -> HttpResponse:
    headers = [("Content-Type", content_type)] if content_type else []
    return HttpResponse(status=200, raw_headers=headers, body=body, size=len(body), url="http://a.example/x")


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("grüße".encode("latin-1"), "text/plain; charset=iso-8859-1", "grüße"),
        ("日本語".encode("shift_jis"), 'text/html; Charset="Shift_JIS"', "日本語"),
        ("日本語".encode("euc_jp"), "text/html; charset=EUC-JP", "日本語"),
        ("日本語".encode(), "text/plain", "日本語"),
        ("日本語".encode("utf-16"), "text/plain; charset=ascii", "日本語"),
        (b"\xef\xbb\xbfabc", "text/plain", "abc"),
        (
            b"<html><head><META charset='windows-1251'>\xcf\xf0",
            "text/html",
            "<html><head><META charset='windows-1251'>Пр",
        ),
        (
            b'<?xml version="1.0" encoding="iso-8859-1"?><a>\xfc</a>',
            "text/xml",
            '<?xml version="1.0" encoding="iso-8859-1"?><a>ü</a>',
        ),
        (b"caf\xe9", "text/plain", "caf\ufffd"),
        (b"abc", "text/plain; charset=no-such", "abc"),
        (b"abc", "text/plain; charset=hex", "abc"),
        (b"abc", "text/plain; charset=zlib_codec", "abc"),
        (b"\\x41", "text/plain; charset=unicode_escape", "\\x41"),
        (b"", "", ""),
    ],
)
def test_text_is_decoded_by_what_is_known(body: bytes, content_type: str, text: str) -> None:
    assert response(body, content_type).text() == text


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"a": "\xc3\xbc"}', "application/json"),
        (b'\xef\xbb\xbf{"a": "\xc3\xbc"}', "application/json"),
        ('{"a": "ü"}'.encode("utf-16"), "application/json"),
        ('{"a": "ü"}'.encode("utf-32-le"), ""),
        (b'{"a": "\xfc"}', "application/json; charset=latin-1"),
        (b' \n{"a": "\\u00fc"}\n', "text/html"),
    ],
)
def test_json_is_read_in_every_encoding(body: bytes, content_type: str) -> None:
    assert response(body, content_type).json() == {"a": "ü"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>no</html>",
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": 1} x',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_json_is_a_bad_response_with_its_beginning(body: bytes) -> None:
    with pytest.raises(NodeError) as caught:
        response(body).json()
    assert (caught.value.kind, caught.value.retryable) == ("bad_response", False)
    assert "http://a.example/x" in caught.value.message
    assert len(caught.value.message) < 1000


def test_an_excerpt_is_short_and_readable() -> None:
    assert response(b"  a\n\n  b  ").excerpt() == "a b"
    long = response("ü".encode() * 10_000).excerpt()
    assert (len(long), long[-1]) == (500, "…")
    assert response(b"\x89PNG\0\0", "image/png").excerpt() == "<6 bytes of image/png>"


def test_json_bodies() -> None:
    assert json_body({"ü": [1, None, True]}).content == '{"ü":[1,null,true]}'.encode()
    assert json.loads(json_body({"n": 2**70}).content or b"") == {"n": 2**70}
    for none in ({"x": object()}, {"x": float("nan")}, [None, float("-inf")]):
        with pytest.raises(NodeError) as caught:
            json_body(none)
        assert caught.value.kind == "bad_body"


def test_form_bodies() -> None:
    encoded = form_body({"a b": "c&d", "n": 1, "yes": True, "no": None, "l": ["x", 2], "o": {"k": "ü"}})
    assert encoded.content == b"a+b=c%26d&n=1&yes=true&l=x&l=2&o=%7B%22k%22%3A%22%C3%BC%22%7D"
    assert encoded.media_type == "application/x-www-form-urlencoded"


def test_multipart_bodies_cannot_be_broken_out_of() -> None:
    parts = [
        Part(name='a"\r\nX: y', content=b"1"),
        Part(name="f", content=b"\0\r\n--x", filename='ü".txt', media_type="text/plain"),
    ]
    encoded = multipart_body(parts)
    boundary = (encoded.media_type or "").partition("boundary=")[2].encode()
    assert encoded.content == (
        b"--" + boundary + b'\r\nContent-Disposition: form-data; name="a%22%0D%0AX: y"\r\n\r\n1\r\n'
        b"--" + boundary + b'\r\nContent-Disposition: form-data; name="f"; filename="\xc3\xbc%22.txt"'
        b"\r\nContent-Type: text/plain\r\n\r\n\0\r\n--x\r\n--" + boundary + b"--\r\n"
    )
    assert multipart_body(parts).media_type != encoded.media_type
    with pytest.raises(NodeError):
        multipart_body([Part(name="f", content=b"", media_type="text/plain\r\nX: y")])
