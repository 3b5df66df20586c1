"""Reads the patterns that take values apart: `{a, b: [c]}`, and the parameters of functions."""

from __future__ import annotations

from interlace.importers.javascript.parser import Parser
from interlace.importers.javascript.syntax import Bind, BindFields, BindList, NotJavaScript, Target


class PatternParser(Parser):
    """Reads patterns and parameters."""

    def _target(self, *, with_default: bool = True) -> Target:
        made: Target
        if self._is("{"):
            made = self._fields()
        elif self._is("["):
            made = self._entries()
        else:
            made = Bind(self._key())
        if with_default and self._is("="):
            self._at += 1
            default = self.expression()
            if isinstance(made, Bind):
                return Bind(made.name, default)
            if isinstance(made, BindFields):
                return BindFields(made.fields, made.rest, default)
            return BindList(made.entries, made.rest, default)
        return made

    def _fields(self) -> BindFields:
        self._expect("{")
        fields: list[tuple[str, Target]] = []
        rest = None
        while not self._is("}"):
            if self._is("..."):
                self._at += 1
                rest = self._key()
            else:
                key = self._take()
                if key.kind not in ("name", "string"):
                    raise NotJavaScript("a pattern with a computed key")
                if self._is(":"):
                    self._at += 1
                    fields.append((key.text, self._target()))
                else:
                    self._at -= 1
                    fields.append((key.text, self._target()))
            if not self._is("}"):
                self._expect(",")
        self._at += 1
        return BindFields(tuple(fields), rest)

    def _entries(self) -> BindList:
        self._expect("[")
        entries: list[Target | None] = []
        rest = None
        while not self._is("]"):
            if self._is(","):
                entries.append(None)
                self._at += 1
                continue
            if self._is("..."):
                self._at += 1
                rest = self._key()
            else:
                entries.append(self._target())
            if not self._is("]"):
                self._expect(",")
        self._at += 1
        return BindList(tuple(entries), rest)

    def _parameters(self) -> tuple[tuple[Target, ...], str | None]:
        self._expect("(")
        made: list[Target] = []
        rest = None
        while not self._is(")"):
            if self._is("..."):
                self._at += 1
                rest = self._key()
            else:
                made.append(self._target())
            if not self._is(")"):
                self._expect(",")
        self._at += 1
        return tuple(made), rest
