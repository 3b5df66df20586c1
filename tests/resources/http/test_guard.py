"""What may be reached: every spelling of an inside address is refused, every public one is not."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.http import AllowList
from interlace.resources.http.guard import Guard
from interlace.resources.http.url import parse_url

NAMES = {
    "public.example": ["93.184.216.34"],
    "both.example": ["2606:2800:220:1::1", "93.184.216.34"],
    "mixed.example": ["93.184.216.34", "10.0.0.1"],
    "127.0.0.1.nip.example": ["127.0.0.1"],
    "inside.example": ["192.168.1.10"],
    "mapped.example": ["::ffff:10.0.0.1"],
    "nat64.example": ["64:ff9b::a00:1"],
    "sixtofour.example": ["2002:7f00:1::1"],
    "linklocal.example": ["fe80::1%eth0"],
    "meta.example": ["169.254.169.254"],
    "meta6.example": ["fd00:ec2::254"],
    "xn--bcher-kva.example": ["93.184.216.34"],
    "xn--bcher-kva.inside.example": ["10.9.9.9"],
    "api": ["10.1.1.1"],
    "db.internal": ["10.1.1.2"],
    "empty.example": [],
    "metadata.google.internal": ["169.254.169.254"],
    "instance-data": ["169.254.169.254"],
    "under_score.example": ["93.184.216.34"],
}


async def resolve(host: str, port: int) -> Sequence[str]:
    if host not in NAMES:
        raise socket.gaierror(-2, "Name or service not known")
    return NAMES[host]


async def decide(url: str, allow: str = "", own: frozenset[tuple[str, int]] = frozenset()) -> str:
    """`ok`, or the kind of the refusal."""
    guard = Guard(AllowList.parse(allow), own_addresses=own, resolver=resolve)
    try:
        await guard.addresses(parse_url(url).authority)
    except NodeError as error:
        return error.kind
    return "ok"


BAD_URL = [
    "",
    "example.com",
    "//example.com/",
    "ftp://public.example/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_x",
    "javascript:alert(1)",
    "data:text/plain,x",
    "http:/public.example/",
    "http:public.example/",
    "http:///public.example/",
    "http://",
    "http://?q",
    "http://:80/",
    "http://user@public.example/",
    "http://user:pass@public.example/",
    "http://public.example@127.0.0.1/",
    "http://public.example:80@127.0.0.1/",
    "http://public.example\\@127.0.0.1/",
    "http://127.0.0.1\\@public.example/",
    "http:\\\\127.0.0.1/",
    "http://public.example/\r\nHost: x",
    "http://public.example\r\n/",
    "http://public.example\t/",
    "http://public.ex\x00ample/",
    "http://public.example/\x7f",
    "\nhttp://public.example/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7F.0.0.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://10.1/",
    "http://0/",
    "http://00000000/",
    "http://127.0.0.01/",
    "http://127.0.0.1.1/",
    "http://256.0.0.1/",
    "http://1.2.3.4.5/",
    "http://127.0.0.0x1/",
    "http://foo.0x/",
    "http://example.123/",
    "http://169.254.43518/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://①②⑦.1/",
    "http://\uff10x7f.1/",
    "http://[::1/",
    "http://::1/",
    "http://[::1]x/",
    "http://[127.0.0.1]/",
    "http://[fe80::1%25eth0]/",
    "http://[::1%lo]/",
    "http://[1::2::3]/",
    "http://[::ffff:127.1]/",
    "http://public.example:0/",
    "http://public.example:65536/",
    "http://public.example:8o/",
    "http://public.example:-1/",
    "http://public.example:\uff18\uff10/",
    "http://public.example:80:80/",
    "http://%6c%6f%63%61%6c%68%6f%73%74/",
    "http://127.0.0.1%2f@public.example/",
    "http://public .example/",
    "http://-public.example/",
    "http://public..example/",
    "http://.public.example/",
    "http://public.example../",
    "http://pub,lic.example/",
    "http://pub*lic.example/",
    "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 130 + "example/",
    "http://public.example/" + "a" * 20_000,
    "http://xn--a.example\u2028/",
]

BLOCKED = [
    "http://127.0.0.1#@public.example/",
    "http://127.0.0.1?@public.example/",
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.8.8.8/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://x.localhost/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://127。0。0。1/",
    "http://\uff11\uff12\uff17.0.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://169.254.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/credentials",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://192.88.99.1/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::FFFF:10.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::8.8.8.8]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[2001:0:1::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[100::1]/",
    "http://[5f00::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://[fe80::1]/",
    "http://[fe80::5efe:127.0.0.1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.internal./",
    "http://metadata/",
    "http://instance-data/",
    "http://api/",
    "http://printer/",
    "http://db.internal/",
    "http://inside.example/",
    "http://mixed.example/",
    "http://127.0.0.1.nip.example/",
    "http://mapped.example/",
    "http://nat64.example/",
    "http://sixtofour.example/",
    "http://linklocal.example/",
    "http://meta.example/",
    "http://meta6.example/",
    "http://bücher.inside.example/",
    "http://public.example:22/",
    "http://public.example:6379/",
    "https://93.184.216.34:8443/",
]

OPEN = [
    "http://public.example/",
    "HTTPS://PUBLIC.EXAMPLE/",
    "http://public.example./",
    "http://public.example:443/",
    "https://public.example:80/",
    "http://public.example:/",
    "http://both.example/x?y=//a@b",
    "http://bücher.example/",
    "http://BÜCHER.example/",
    "http://xn--bcher-kva.example/",
    "http://under_score.example/",
    "http://93.184.216.34/",
    "http://8.8.8.8/",
    "http://172.32.0.1/",
    "http://100.128.0.1/",
    "http://[2606:4700:4700::1111]/",
    "http://[::ffff:8.8.8.8]/",
    "  https://public.example/  ",
]


@pytest.mark.parametrize("url", BAD_URL)
async def test_urls_without_one_clear_meaning_are_refused(url: str) -> None:
    assert await decide(url) == "bad_url"
    assert await decide(url, "0.0.0.0/0,::/0,*.example,localhost") == "bad_url"


@pytest.mark.parametrize("url", BLOCKED)
async def test_inside_targets_are_refused(url: str) -> None:
    assert await decide(url) == "blocked_address"


@pytest.mark.parametrize("url", OPEN)
async def test_public_targets_are_open(url: str) -> None:
    assert await decide(url) == "ok"


@pytest.mark.parametrize(
    ("url", "allow"),
    [
        ("http://127.0.0.1:5000/", "127.0.0.0/8"),
        ("http://127.0.0.1:5000/", "127.0.0.1"),
        ("http://127.0.0.1:5000/", "127.0.0.1:5000"),
        ("http://localhost:5000/", "127.0.0.0/8"),
        ("http://localhost:5000/", "::1"),
        ("http://localhost:5000/", "localhost"),
        ("http://localhost:5000/", "localhost:5000"),
        ("http://[::1]:5000/", "::1/128"),
        ("http://[::1]:5000/", "[::1]:5000"),
        ("http://[::ffff:127.0.0.1]/", "127.0.0.1"),
        ("http://inside.example:9/", "192.168.0.0/16"),
        ("http://inside.example:9/", "inside.example"),
        ("http://inside.example:9/", "*.example"),
        ("http://mixed.example/", "10.0.0.0/8"),
        ("http://api:8080/", "api"),
        ("http://api:8080/", "API:8080"),
        ("http://db.internal/", "*.internal"),
        ("http://public.example:8443/", ":8443"),
        ("http://public.example:22/", "public.example"),
        ("http://[64:ff9b::8.8.8.8]/", "64:ff9b::/96"),
        ("http://[64:ff9b::10.0.0.1]/", "64:ff9b::/96, 10.0.0.0/8"),
    ],
)
async def test_the_operator_may_open_inside_targets(url: str, allow: str) -> None:
    assert await decide(url) == "blocked_address"
    assert await decide(url, allow) == "ok"


@pytest.mark.parametrize(
    ("url", "allow"),
    [
        ("http://127.0.0.1:5001/", "127.0.0.1:5000"),
        ("http://localhost:5001/", "localhost:5000"),
        ("http://127.0.0.1/", "localhost"),
        ("http://10.0.0.1/", "127.0.0.0/8"),
        ("http://[::1]/", "127.0.0.0/8"),
        ("http://mixed.example:9/", "10.0.0.0/8"),
        ("http://inside.example/", "*.inside.example"),
        ("http://public.example:8444/", ":8443"),
        ("http://127.0.0.1:8443/", ":8443"),
        ("http://api/", "10.0.0.0/8"),
        ("http://[64:ff9b::10.0.0.1]/", "64:ff9b::/96"),
        ("http://169.254.169.254/", "0.0.0.0/0"),
        ("http://169.254.169.254/", "169.254.169.254"),
        ("http://meta.example/", "meta.example"),
        ("http://[::ffff:169.254.169.254]/", "::/0,0.0.0.0/0"),
        ("http://[64:ff9b::169.254.169.254]/", "::/0,0.0.0.0/0"),
        ("http://[2002:a9fe:a9fe::1]/", "::/0,0.0.0.0/0"),
        ("http://[fd00:ec2::254]/", "::/0"),
        ("http://100.100.100.200/", "100.64.0.0/10"),
        ("http://168.63.129.16/", "168.63.129.16"),
        ("http://metadata.google.internal/", "metadata.google.internal"),
        ("http://metadata.google.internal/", "*.internal"),
        ("http://0.0.0.0/", "0.0.0.0/0"),
        ("http://[::]/", "::/0"),
        ("http://224.0.0.1/", "0.0.0.0/0"),
    ],
)
async def test_what_is_not_listed_stays_closed_and_metadata_always(url: str, allow: str) -> None:
    assert await decide(url, allow) == "blocked_address"


@pytest.mark.parametrize(
    ("url", "own", "verdict"),
    [
        ("http://127.0.0.1:8700/", ("127.0.0.1", 8700), "blocked_address"),
        ("http://127.0.0.1:8701/", ("127.0.0.1", 8700), "ok"),
        ("http://127.0.0.1:8700/", ("0.0.0.0", 8700), "blocked_address"),
        ("http://127.9.9.9:8700/", ("0.0.0.0", 8700), "blocked_address"),
        ("http://[::1]:8700/", ("::", 8700), "blocked_address"),
        ("http://127.0.0.1:8700/", ("localhost", 8700), "blocked_address"),
        ("http://[::ffff:127.0.0.1]:8700/", ("127.0.0.1", 8700), "blocked_address"),
        ("http://localhost:5432/", ("127.0.0.1", 5432), "blocked_address"),
        ("http://10.0.0.1:8700/", ("10.0.0.1", 8700), "blocked_address"),
        ("http://8.8.8.8:8700/", ("0.0.0.0", 8700), "ok"),
    ],
)
async def test_the_platform_never_calls_itself(url: str, own: tuple[str, int], verdict: str) -> None:
    assert await decide(url, "0.0.0.0/0 ::/0 localhost", frozenset({own})) == verdict


async def test_own_addresses_may_be_added_later() -> None:
    own: set[tuple[str, int]] = set()
    guard = Guard(AllowList.parse("127.0.0.1"), own_addresses=own, resolver=resolve)
    authority = parse_url("http://127.0.0.1:9999/").authority
    await guard.addresses(authority)
    own.add(("127.0.0.1", 9999))
    with pytest.raises(NodeError, match="this platform itself"):
        await guard.addresses(authority)


async def test_the_message_names_the_setting_that_opens_it_and_only_then() -> None:
    guard = Guard(AllowList(), resolver=resolve)
    with pytest.raises(
        NodeError,
        match=r"INTERLACE_HTTP_ALLOW=inside\.example:8080 \(set it where the server is started, and restart it\)\.",
    ) as caught:
        await guard.addresses(parse_url("http://inside.example:8080/").authority)
    assert "192.168" not in caught.value.message  # an inside name server is not to be read through messages
    assert not caught.value.retryable
    with pytest.raises(NodeError, match=r"INTERLACE_HTTP_ALLOW=\[::1\]:80 \("):
        await guard.addresses(parse_url("http://[::1]/").authority)
    with pytest.raises(NodeError, match="no setting opens it") as caught:
        await guard.addresses(parse_url("http://meta.example/").authority)
    assert "INTERLACE_HTTP_ALLOW" not in caught.value.message


@pytest.mark.parametrize("host", ["unknown.example", "empty.example"])
async def test_names_without_address_are_connection_errors(host: str) -> None:
    assert await decide(f"http://{host}/") == "connection"
