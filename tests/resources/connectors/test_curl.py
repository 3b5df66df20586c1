"""Commands as people copy them from documentation and browsers."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.resources.connectors.adapter import Access
from interlace.resources.connectors.curl import import_curl
from interlace.resources.connectors.report import Imported, NotImported
from interlace.resources.http.testing import Reply, serve
from tests.resources.connectors.conftest import Bench


def action(found: Imported) -> Any:
    return found.connector.actions[0]


def defaults(found: Imported) -> dict[str, Any]:
    return {p.wire: (p.place, p.schema_["default"]) for p in action(found).parameters}


@pytest.mark.parametrize(
    ("command", "method", "path", "body"),
    [
        ("curl https://api.example.com/v1/x?a=1", "GET", "/v1/x", None),
        ("curl -X DELETE https://api.example.com/x", "DELETE", "/x", None),
        ("curl -XPUT api.example.com/x -d a=1 -d 'b=two words'", "PUT", "/x", ("application/x-www-form-urlencoded", {"a": "1", "b": "two words"})),
        ("curl https://api.example.com/x --json '{\"a\": [1]}'", "POST", "/x", ("application/json", {"a": [1]})),
        ("$ curl 'https://api.example.com/x' \\\n -H 'Content-Type: application/json' \\\n --data-raw $'{\"t\": \"it\\'s \\u0041\"}' --compressed", "POST", "/x", ("application/json", {"t": "it's A"})),
        ("curl -sSL --request=PATCH --url https://api.example.com/x --data-urlencode 'q=a b&c'", "PATCH", "/x", ("application/x-www-form-urlencoded", {"q": "a b&c"})),
        ("curl -G https://api.example.com/x -d a=1 --url-query b=2", "GET", "/x", None),
        ("curl -I https://api.example.com/x", "HEAD", "/x", None),
        ("curl -H 'Content-Type: text/csv' -d 'a,b' https://api.example.com/x", "POST", "/x", ("text/csv", "a,b")),
    ],
)  # fmt: skip
def test_the_request_is_read(command: str, method: str, path: str, body: tuple[str, Any] | None) -> None:
    found = import_curl(command)
    assert (action(found).method, action(found).path) == (method, path)
    assert found.connector.base_url in ("https://api.example.com", "http://api.example.com")
    if body is None:
        assert action(found).bodies == []
    else:
        (one,) = action(found).bodies
        assert (one.media_type, one.schema_["default"]) == body
    assert action(found).requires_confirmation is (method not in ("GET", "HEAD"))


def test_values_become_arguments_with_defaults() -> None:
    found = import_curl(
        "curl 'https://api.example.com/x?tag=a&tag=b&q=%E6%97%A5' -H 'Accept: text/csv' -A me -G -d n=1"
    )
    assert defaults(found) == {
        "tag": ("query", ["a", "b"]), "q": ("query", "日"), "n": ("query", "1"), "Accept": ("header", "text/csv"), "User-Agent": ("header", "me"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "kind", "slots"),
    [
        ("curl -H 'Authorization: Bearer s3cr3t' https://a.example.com", "bearer", {"token": "s3cr3t"}),
        ("curl -H 'Authorization: Token s3cr3t' https://a.example.com", "bearer", {"token": "s3cr3t"}),
        (
            "curl -H 'Authorization: Basic dTpzM2NyM3Q=' https://a.example.com",
            "basic",
            {"username": "u", "password": "s3cr3t"},
        ),
        ("curl -u u:s3cr3t https://a.example.com", "basic", {"username": "u", "password": "s3cr3t"}),
        ("curl https://u:s3cr3t@a.example.com/x", "basic", {"username": "u", "password": "s3cr3t"}),
        ("curl -H 'X-Api-Key: s3cr3t' https://a.example.com", "api_key", {"key": "s3cr3t"}),
        ("curl 'https://a.example.com/?api_key=s3cr3t&q=1'", "api_key", {"key": "s3cr3t"}),
    ],
)
def test_secrets_go_into_their_slots(command: str, kind: str, slots: dict[str, str]) -> None:
    found = import_curl(command)
    auth = found.connector.auth
    assert auth.type == kind
    assert {name: getattr(auth, name) for name in slots} == slots == found.secrets
    assert "s3cr3t" not in found.connector.model_copy(update={"auth": "none"}).model_dump_json(warnings=False)
    assert "s3cr3t" not in repr(found.entries)


def test_further_secrets_are_secret_headers() -> None:
    found = import_curl("curl -u u:p -H 'X-Auth-Token: t0k' -b 'sid=abc' https://a.example.com")
    assert found.connector.secret_headers == {"X-Auth-Token": "t0k", "Cookie": "sid=abc"}


def test_files_and_options_are_reported() -> None:
    found = import_curl(
        "curl -F file=@a.png -F title=x https://a.example.com -o out.json --proxy http://p --weird"
    )
    schema = action(found).bodies[0].schema_
    assert schema["properties"]["file"] == {
        "anyOf": [{"type": "object", "format": "file"}, {"type": "string"}]
    }
    assert schema["properties"]["title"] == {"type": "string", "default": "x"}
    assert [entry.message for entry in found.entries] == [
        "the option -o is left out.",
        "the option --proxy is left out.",
        "the option --weird is left out.",
    ]


@pytest.mark.parametrize(
    "command",
    ["", "wget x", "curl", "curl 'https://a.example.com", "curl ftp://a.example.com/x", "rm -rf / ; curl x"],
)
def test_what_is_no_command_is_refused(command: str) -> None:
    with pytest.raises(NotImported):
        import_curl(command)


async def test_a_call_without_arguments_is_the_command_itself(bench: Bench) -> None:
    async with serve(lambda _: Reply.of({})) as server:
        found = import_curl(f"curl -X PUT '{server.url}/x?a=1' -H 'X-Mode: fast' --json '{{\"n\": 1}}'")
        name = action(found).name
        await bench.call(found.connector, name, Access())
        sent = server.requests[-1]
        assert (sent.method, sent.target, sent.headers["x-mode"], sent.json()) == (
            "PUT",
            "/x?a=1",
            "fast",
            {"n": 1},
        )
        await bench.call(found.connector, name, Access(), a="2", body={"n": 5})
        assert (server.requests[-1].target, server.requests[-1].json()) == ("/x?a=2", {"n": 5})


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("curl https://x.example.com | sh", "'|' and what follows"),
        ("curl https://x.example.com > file", "'>' and what follows"),
        ("curl https://a.example.com https://b.example.com", "names 2 addresses"),
        ("curl 'https://x.example.com/{a,b}'", "several addresses of '{a,b}'"),
        ("curl 'https://x.example.com/[1-9]'", "several addresses of '[1-9]'"),
        ("curl -X $'POST\\r\\nX: y' https://x.example.com", "method"),
    ],
)
def test_what_is_no_single_request_is_refused(command: str, message: str) -> None:
    with pytest.raises(NotImported) as caught:
        import_curl(command)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("curl -H @headers.txt https://x.example.com", "headers in the file 'headers.txt'"),
        ("curl --data-binary @- https://x.example.com", "from the file '-'"),
        ("curl --json @body.json https://x.example.com", "from the file 'body.json'"),
        ("curl --data-urlencode text@note.txt https://x.example.com", "from the file 'note.txt'"),
        ("curl -T report.pdf https://x.example.com/report.pdf", "from the file 'report.pdf'"),
    ],
)
def test_what_stands_in_files_is_said(command: str, said: str) -> None:
    found = import_curl(command)
    assert any(said in entry.message for entry in found.entries)
    assert "@" not in str(action(found).model_dump())
    if " -T " in command:
        assert (action(found).method, action(found).bodies[0].media_type) == (
            "PUT",
            "application/octet-stream",
        )


@pytest.mark.parametrize(
    "command",
    [
        "curl -H 'X-Api-Key: ONE' 'https://x.example.com/a?api_key=CANARY'",
        "curl 'https://x.example.com/a?api_key=ONE&token=CANARY'",
        "curl https://x.example.com/a -d user=me -d password=CANARY",
        'curl https://x.example.com/a --json \'{"password": "CANARY", "user": "me"}\'',
        "curl https://x.example.com/a -F user=me -F password=CANARY",
    ],
)
def test_no_second_secret_stays_in_the_definition(command: str) -> None:
    found = import_curl(command)
    assert "CANARY" not in found.connector.model_dump_json()
    assert any("looks like a secret" in entry.message for entry in found.entries)


@pytest.mark.parametrize(
    "option",
    [
        "--proto '=https'", "--noproxy '*'", "--aws-sigv4 aws:amz", "--unix-socket /run/x.sock", "--retry-max-time 4", "--pass x", "-C 10",
        "--dns-servers 192.0.2.1", "--socks5 proxy:1080", "-P -", "--variable a=b",
    ],
)  # fmt: skip
def test_the_value_of_an_option_without_a_place_here_is_no_address(option: str) -> None:
    found = import_curl(f"curl {option} https://x.example.com/a")
    assert (found.connector.base_url, action(found).path) == ("https://x.example.com", "/a")
    assert [entry.message for entry in found.entries] == [
        f"the option {option.split(maxsplit=1)[0]} is left out."
    ]


def test_a_range_is_a_header() -> None:
    assert defaults(import_curl("curl -r 0-99 https://x.example.com/a")) == {
        "Range": ("header", "bytes=0-99")
    }


@pytest.mark.parametrize(
    "command",
    [
        'curl ^"https://x.example.com/a?y=1^&z=2^" ^\r\n  -H ^"X-A: b^" ^\r\n  --data-raw ^"^{^\\^"n^\\^":1^}^"',
        "curl 'https://x.example.com/a?y=1&z=2' `\n -H 'X-A: b' `\n -d '{\"n\":1}'",
        "curl 'https://x.example.com/a?y=1&z=2' \\ \n -H 'X-A: b' \\\t\n -d '{\"n\":1}' # sends it",
    ],
)
def test_commands_as_other_shells_write_them(command: str) -> None:
    found = import_curl(command)
    assert (action(found).method, action(found).path) == ("POST", "/a")
    assert defaults(found) == {"y": ("query", "1"), "z": ("query", "2"), "X-A": ("header", "b")}
    assert action(found).bodies[0].schema_["default"] in ({"n": 1}, '{"n":1}')


def test_variables_of_the_shell_are_named() -> None:
    found = import_curl("""curl https://x.example.com -H "X-A: $TOKEN" -H 'X-B: $5' -d "${DATA} \\$no" """)
    said = [entry.message for entry in found.entries if entry.code == "variable"]
    assert said == [
        f"${name} is a variable of the shell and is not read; put its value." for name in ("TOKEN", "DATA")
    ]
