"""A curl command taken apart: what its options say. The command is read, never run, and no file that it names either."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from interlace.resources.connectors.report import NotImported, Report

_WITH_VALUE = {
    "-X": "method", "--request": "method", "-H": "header", "--header": "header", "-d": "data", "--data": "data",
    "--data-ascii": "data", "--data-raw": "data-raw", "--data-binary": "data", "--data-urlencode": "urlencode",
    "--json": "json", "-F": "form", "--form": "form", "--form-string": "form-string", "-u": "user", "--user": "user",
    "--url": "url", "--url-query": "url-query", "-A": "agent", "--user-agent": "agent", "-b": "cookie",
    "--cookie": "cookie", "-e": "referer", "--referer": "referer", "--oauth2-bearer": "bearer",
    "-m": "timeout", "--max-time": "timeout", "-r": "range", "--range": "range", "-T": "upload", "--upload-file": "upload",
}  # fmt: skip
_SWITCHES = {
    "-G": "get",
    "--get": "get",
    "-I": "head",
    "--head": "head",
    "-g": "globoff",
    "--globoff": "globoff",
}
_NO_MATTER = frozenset(
    {"-s", "-S", "-L", "-v", "-i", "-f", "-#", "-N", "--silent", "--show-error", "--location", "--verbose", "--include",
     "--fail", "--compressed", "--progress-bar", "--no-buffer", "--http1.1", "--http2", "--fail-with-body"}
)  # fmt: skip
_LONG_NAMES = """
    abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to
    continue-at cookie-jar create-file-mode crlfile curves delegation dns-interface dns-ipv4-addr dns-ipv6-addr
    dns-servers doh-url dump-header ech egd-file engine etag-compare etag-save expect100-timeout ftp-account
    ftp-method ftp-port happy-eyeballs-timeout-ms haproxy-clientip hostpubmd5 hostpubsha256 hsts interface ip-tos
    ipfs-gateway keepalive-cnt keepalive-time key key-type krb libcurl limit-rate local-port login-options mail-auth
    mail-from mail-rcpt max-filesize max-redirs netrc-file noproxy output output-dir parallel-max pass pinnedpubkey
    postquote preproxy prequote proto proto-default proto-redir proxy proxy-cacert proxy-capath proxy-cert
    proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey
    proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-user proxy1.0
    pubkey quote random-file rate request-target resolve retry retry-delay retry-max-time sasl-authzid service-name
    socks4 socks4a socks5 socks5-gssapi-service socks5-hostname speed-limit speed-time stderr telnet-option
    tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii trace-config
    unix-socket variable vlan-priority write-out
"""
_LEFT_OUT_VALUE = frozenset(f"-{letter}" for letter in "CDEKPQUYchotwxyz") | {
    f"--{name}" for name in _LONG_NAMES.split()
}
"""All others of curl's options that take a value: without it the value would pass for an address."""
_VARIABLE = re.compile(r"(?<!\\)\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_QUOTED = re.compile(r"'[^']*'")
_SEVERAL = re.compile(r"\{[^{}]*,[^{}]*\}|\[\w+-\w+(?::\d+)?\]")
_SHELL = frozenset({"|", "||", "|&", ";", "&", "&&", ">", ">>", "<", "<<<", "2>", "2>&1", "&>"})


@dataclass(slots=True)
class Command:
    """What the options of a command say."""

    urls: list[str] = field(default_factory=list)
    method: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    json: list[str] = field(default_factory=list)
    form: list[tuple[str, str, bool]] = field(default_factory=list)
    query: list[str] = field(default_factory=list)
    user: str | None = None
    get: bool = False
    head: bool = False
    upload: bool = False
    timeout: float | None = None
    globoff: bool = False

    @property
    def url(self) -> str:
        """The one address."""
        return self.urls[0]


def parsed(command: str, report: Report) -> Command:
    """What a command says; what of it has no place here is reported.

    Raises:
        NotImported: it is no curl command, or more than one, or names no address or several.
    """
    text = _joined(command.strip().removeprefix("$ "))
    if "$'" in text:
        text = re.sub(r"\$'((?:[^'\\]|\\.)*)'", _ansi, text, flags=re.DOTALL)
    for name in dict.fromkeys(_VARIABLE.findall(_QUOTED.sub("", text))):
        report.add(
            "warning",
            "variable",
            "curl",
            f"${name} is a variable of the shell and is not read; put its value.",
        )
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise NotImported(f"the command cannot be read: {error}; a quote is not closed.") from None
    if not words or words[0].rpartition("/")[2] not in ("curl", "curl.exe"):
        raise NotImported("this is no curl command; it begins with `curl`.", line=1)
    made = Command()
    for option, value in _options(words[1:]):
        _take(made, option, value, report)
    if not made.urls:
        raise NotImported("the command names no URL.")
    if len(made.urls) > 1:
        raise NotImported(
            f"the command names {len(made.urls)} addresses; import one command for each, and put values with spaces in quotes."
        )
    if not made.globoff and (several := _SEVERAL.search(made.url)):
        raise NotImported(f"curl makes several addresses of {several[0]!r}; give one of them.")
    return made


def _joined(text: str) -> str:
    """One line of a POSIX shell: browsers also write commands for Windows, with carets, and PowerShell has backticks."""
    if re.search(r'\^(?:"|\r?\n)', text):
        text = re.sub(r"\^\s*?\r?\n", " ", text)
        text = re.sub(r"\^(.)", r"\1", text)
    return re.sub(r"[\\`][ \t]*\r?\n", " ", text)


def _ansi(found: re.Match[str]) -> str:
    """Bash's `$'…'`, which browsers write."""
    names = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "!": "!"}

    def one(escape: re.Match[str]) -> str:
        code = escape.group(1)
        return chr(int(code[1:], 16)) if code[0] in "ux" and len(code) > 1 else names.get(code, "\\" + code)

    return shlex.quote(re.sub(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", one, found.group(1), flags=re.DOTALL))


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Options with their values; the URL is the option `url`."""
    rest = iter(words)
    for word in rest:
        if word == "#":  # a comment until the end
            return
        if word in _SHELL:
            raise NotImported(
                f"{word!r} and what follows is no part of a curl command; give the one command alone."
            )
        if not word.startswith("-") or word == "-":
            yield "url", word
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            takes = name in _WITH_VALUE or name in _LEFT_OUT_VALUE
            yield (
                _WITH_VALUE.get(name) or _SWITCHES.get(name) or name,
                value if equals else next(rest, "") if takes else "",
            )
        else:
            yield from _short(word, rest)


def _short(word: str, rest: Iterator[str]) -> Iterator[tuple[str, str]]:
    """`-XPOST`, `-sSL`, `-sH 'A: b'`."""
    for at in range(1, len(word)):
        name = f"-{word[at]}"
        if name in _WITH_VALUE or name in _LEFT_OUT_VALUE:
            yield _WITH_VALUE.get(name, name), word[at + 1 :] or next(rest, "")
            return
        yield _SWITCHES.get(name, name), ""


def _take(made: Command, option: str, value: str, report: Report) -> None:
    handler = _TAKEN.get(option)
    if handler is not None:
        handler(made, value)
    elif option == "header":
        _header(made, value, report)
    elif option in ("data", "data-raw", "urlencode", "json", "upload"):
        _take_body(made, option, value, report)
    elif option not in _NO_MATTER:
        report.add("warning", "option", "curl", f"the option {option} is left out.")


def _take_body(made: Command, option: str, value: str, report: Report) -> None:
    """A part of the body; what stands in a file is not read, and becomes an argument."""
    name, at, file = value.partition("@")
    reads = option == "upload" or (option in ("data", "json") and value.startswith("@"))
    reads = reads or (option == "urlencode" and bool(at) and "=" not in name)
    if reads:
        file = value if option == "upload" else file
        report.add(
            "warning", "file", "curl", f"the body is read from the file {file!r}; it is an argument here."
        )
        value = f"{name}=" if option == "urlencode" and name else ""
    elif option == "urlencode":
        name, equals, rest = value.partition("=")
        value = f"{name}={_percent(rest)}" if equals and name else _percent(rest if equals else value)
    made.upload = made.upload or option == "upload"
    (made.json if option == "json" else made.data).append(value)


def _set(name: str) -> Any:
    return lambda made, value: setattr(made, name, value)


def _seconds(made: Command, value: str) -> None:
    if re.fullmatch(r"\d+(\.\d+)?", value) and float(value) > 0:
        made.timeout = min(float(value), 3600.0)


def _header(made: Command, value: str, report: Report) -> None:
    name, colon, text = value.partition(":")
    if colon and text.strip() and not value.startswith("@"):
        made.headers.append((name.strip(), text.strip()))
    elif value.startswith("@"):
        report.add(
            "warning",
            "file",
            "curl",
            f"the headers in the file {value[1:]!r} are left out; add them by hand.",
        )
    elif not colon:
        report.add("warning", "header", "curl", f"the header {value!r} has no value and is left out.")


_TAKEN: dict[str, Any] = {
    "url": lambda made, value: made.urls.append(value), "method": _set("method"), "user": _set("user"), "timeout": _seconds,
    "get": lambda made, _: setattr(made, "get", True), "head": lambda made, _: setattr(made, "head", True),
    "globoff": lambda made, _: setattr(made, "globoff", True),
    "url-query": lambda made, value: made.query.append(value),
    "form": lambda made, value: made.form.append((*_named(value), True)),
    "form-string": lambda made, value: made.form.append((*_named(value), False)),
    "range": lambda made, value: made.headers.append(("Range", f"bytes={value}")),
    "agent": lambda made, value: made.headers.append(("User-Agent", value)),
    "referer": lambda made, value: made.headers.append(("Referer", value)),
    "cookie": lambda made, value: made.headers.append(("Cookie", value)),
    "bearer": lambda made, value: made.headers.append(("Authorization", f"Bearer {value}")),
}  # fmt: skip


def _named(value: str) -> tuple[str, str]:
    name, _, text = value.partition("=")
    return name, text


def _percent(text: str) -> str:
    return quote(text, safe="")
