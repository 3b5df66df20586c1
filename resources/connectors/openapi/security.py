"""Security schemes as the one way in which a connector authenticates."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from interlace.resources.connectors.auth import (
    AnyAuth,
    BasicCredentials,
    BearerCredentials,
    ClientGrant,
    CodeGrant,
    KeyCredentials,
    NoCredentials,
)
from interlace.resources.connectors.openapi.references import References, Unresolved
from interlace.resources.connectors.report import Report

_UNTOLD = "set it with `interlace connectors credentials`"


class Security:
    """Chooses among the schemes of a description, and says of each operation whether it is needed."""

    def __init__(self, data: dict[str, Any], references: References, report: Report) -> None:
        self._report = report
        self._known: dict[str, AnyAuth] = {}
        self._all: list[str] = []
        components = data.get("components")
        schemes = components.get("securitySchemes") if isinstance(components, dict) else None
        for name, scheme in schemes.items() if isinstance(schemes, dict) else ():
            self._all.append(str(name))
            try:
                made = self._scheme(str(name), references.follow(scheme))
            except Unresolved as problem:
                report.add("warning", problem.code, f"security {name}", problem.message)
                continue
            if made is not None:
                self._known[str(name)] = made
        self._general = _requirements(data.get("security"))
        self._said = bool(_used(data))
        self.chosen, self.auth = self._choose(data)

    def applies(self, operation: dict[str, Any], place: str) -> bool:
        """Whether an operation is called with credentials."""
        wanted = _requirements(operation.get("security")) if "security" in operation else self._general
        if not self._known:
            return True
        if wanted is None:  # where no operation says what it needs, all may need what there is
            return not self._said
        if not wanted:
            return False
        if any(not names for names in wanted) and not any(self.chosen in names for names in wanted):
            return False
        if not any(self.chosen in names for names in wanted):
            names = " or ".join(" with ".join(names) for names in wanted)
            self._report.add(
                "warning",
                "other_security",
                place,
                f"it asks for {names}; the connector authenticates by {self.chosen}.",
            )
        return True

    def _choose(self, data: dict[str, Any]) -> tuple[str, AnyAuth]:
        candidates = [names for names in self._general or [] if names]
        if not candidates:
            candidates = _used(data)
        alone = [names[0] for names in candidates if len(names) == 1 and names[0] in self._known]
        chosen = next(iter(alone), None)
        if chosen is None:
            joint = next((names for names in candidates if any(name in self._known for name in names)), None)
            if joint is not None:
                chosen = next(name for name in joint if name in self._known)
                self._report.add(
                    "warning", "joint_security", "security",
                    f"{' and '.join(joint)} are needed together; {chosen} is authenticated, give the other as a header.",
                )  # fmt: skip
        if chosen is None:
            chosen = next(iter(self._known), None)
        if chosen is None:
            return "", NoCredentials()
        others = [name for name in self._known if name != chosen]
        if others:
            self._report.add(
                "info", "other_security", "security", f"{chosen} is taken; it also knows {', '.join(others)}."
            )
        return chosen, self._known[chosen]

    def _scheme(self, name: str, scheme: dict[str, Any]) -> AnyAuth | None:
        place, kind = f"security {name}", scheme.get("type")
        try:
            if kind == "http":
                return self._http(place, str(scheme.get("scheme", "")))
            if kind == "apiKey":
                return KeyCredentials.model_validate({"in": scheme.get("in"), "name": scheme.get("name")})
            if kind == "oauth2":
                return self._oauth(place, scheme.get("flows"))
        except ValidationError as error:
            first = error.errors()[0]
            self._report.add(
                "warning",
                "bad_security",
                place,
                f"it cannot be used: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            )
            return None
        if kind == "openIdConnect":
            self._report.add(
                "warning",
                "openid",
                place,
                "its addresses are not in the description: a bearer token is used; " + _UNTOLD + ".",
            )
            return BearerCredentials()
        self._report.add(
            "warning", "unknown_security", place, f"authentication of type {kind!r} is not supported."
        )
        return None

    def _http(self, place: str, scheme: str) -> AnyAuth | None:
        if scheme.lower() == "bearer":
            return BearerCredentials()
        if scheme.lower() == "basic":
            return BasicCredentials()
        self._report.add(
            "warning", "unknown_security", place, f"HTTP authentication {scheme!r} is not supported."
        )
        return None

    def _oauth(self, place: str, flows: Any) -> AnyAuth | None:
        flows = flows if isinstance(flows, dict) else {}
        code, client = flows.get("authorizationCode"), flows.get("clientCredentials")
        if isinstance(code, dict) and code.get("authorizationUrl"):
            return CodeGrant(
                authorize_url=code.get("authorizationUrl", ""), token_url=code.get("tokenUrl", ""),
                refresh_url=code.get("refreshUrl") or "", scopes=_scopes(code),
            )  # fmt: skip
        if isinstance(client, dict):
            return ClientGrant(token_url=client.get("tokenUrl", ""), scopes=_scopes(client))
        self._report.add(
            "warning",
            "oauth_flow",
            place,
            f"of the flows {', '.join(flows) or 'none'} none can be done here: a bearer token is used.",
        )
        return BearerCredentials()


def _scopes(flow: dict[str, Any]) -> list[str]:
    scopes = flow.get("scopes")
    return [str(scope) for scope in scopes] if isinstance(scopes, dict) else []


def _requirements(value: Any) -> list[list[str]] | None:
    """Alternatives of schemes that are needed together; None where nothing is said."""
    if not isinstance(value, list):
        return None
    return [[str(name) for name in entry] for entry in value if isinstance(entry, dict)]


def _used(data: dict[str, Any]) -> list[list[str]]:
    """What operations ask for, the most frequent first."""
    counted: dict[tuple[str, ...], int] = {}
    paths = data.get("paths")
    for item in paths.values() if isinstance(paths, dict) else ():
        for operation in item.values() if isinstance(item, dict) else ():
            wanted = _requirements(operation.get("security")) if isinstance(operation, dict) else None
            for names in wanted or ():
                if names:
                    counted[tuple(names)] = counted.get(tuple(names), 0) + 1
    return [list(names) for names in sorted(counted, key=lambda key: -counted[key])]
