"""Master keys: from the environment, from a file, or made in the home."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from interlace.engine.errors import StoreError

KEY_FILE: Final = "secret.key"
MIN_CHARACTERS: Final = 16


class SecretKeyError(StoreError):
    """The master key is missing, or is not the one that the secrets were encrypted with."""

    code: ClassVar[str] = "secret_key"
    breaks_run: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class MasterKey:
    """A key that wraps data keys; `id` tells keys apart and gives nothing away."""

    id: str
    key: bytes

    @classmethod
    def of(cls, text: str, origin: str) -> MasterKey:
        """The key of a text.

        Raises:
            SecretKeyError: the text is too short.
        """
        text = text.strip()
        if len(text) < MIN_CHARACTERS:
            raise SecretKeyError(
                f"the master key in {origin} has {len(text)} characters, it needs at least {MIN_CHARACTERS};"
                " `openssl rand -base64 32` makes a good one"
            )
        key = _derive(text, b"interlace master key 1")
        return cls(hashlib.sha256(_derive(text, b"interlace key id 1")).hexdigest()[:16], key)


class MasterKeys:
    """The key that encrypts, and earlier ones that are only read.

    Args:
        home: the folder where a key is made when none is given, at the first secret.
        key: the key's text (INTERLACE_SECRET_KEY).
        file: a file with the text (INTERLACE_SECRET_KEY_FILE); several lines: the first encrypts.
        previous: the text of the key before (INTERLACE_SECRET_KEY_PREVIOUS), for a rotation.
    """

    def __init__(
        self, home: Path, *, key: str | None = None, file: Path | None = None, previous: str | None = None
    ) -> None:
        self._given = key
        self._previous = previous
        self._path = file if file is not None else home / KEY_FILE
        self._own = key is None and file is None
        self._keys: list[MasterKey] = []

    @property
    def made_here(self) -> bool:
        """Whether the key is the one in the home."""
        return self._own

    def current(self) -> MasterKey:
        """The key that encrypts; made in the home where none is given.

        Raises:
            SecretKeyError: the key cannot be read or used.
        """
        if not self._keys:
            self._keys = self._load(make=True)
        return self._keys[0]

    def known(self, master_id: str) -> MasterKey | None:
        """The key of an id; a file is read again, since another process may have rotated it."""
        found = next((key for key in self._keys if key.id == master_id), None)
        if found is None:
            self._keys = self._load(make=False)
            found = next((key for key in self._keys if key.id == master_id), None)
        return found

    def begin_rotation(self) -> None:
        """Put a new key before the one in the home; both are known until `end_rotation`."""
        assert self._own
        self.current()
        lines = self._path.read_text("ascii").split()
        self._write([_new_text(), *lines])
        self._keys = self._load(make=False)

    def end_rotation(self) -> None:
        """Forget all keys of the home but the first."""
        assert self._own
        self._write(self._path.read_text("ascii").split()[:1])
        self._keys = self._load(make=False)

    def _load(self, *, make: bool) -> list[MasterKey]:
        if self._given is not None:
            texts = [(self._given, "INTERLACE_SECRET_KEY")]
        else:
            if self._own and make:
                self._make()
            texts = [(line, str(self._path)) for line in self._read()]
        if self._previous is not None:
            texts.append((self._previous, "INTERLACE_SECRET_KEY_PREVIOUS"))
        return [MasterKey.of(text, origin) for text, origin in texts]

    def _read(self) -> list[str]:
        try:
            lines = self._path.read_text("utf-8").split("\n")
        except FileNotFoundError:
            if self._own:
                return []
            raise SecretKeyError(
                f"the file of the master key {str(self._path)!r} is not there; set INTERLACE_SECRET_KEY_FILE to the right one"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise SecretKeyError(f"the master key {str(self._path)!r} cannot be read: {error}") from None
        found = [line.strip() for line in lines if line.strip()]
        if not found:
            raise SecretKeyError(f"the file of the master key {str(self._path)!r} is empty")
        return found

    def _make(self) -> None:
        """Make the key's file unless there is one; of several processes that try, one does."""
        if self._path.exists():
            return
        part = self._path.with_name(f"{KEY_FILE}.{secrets.token_hex(4)}")
        _write_private(part, _new_text() + "\n")
        try:
            with contextlib.suppress(FileExistsError):
                self._path.hardlink_to(part)
        finally:
            part.unlink()

    def _write(self, lines: list[str]) -> None:
        part = self._path.with_name(f"{KEY_FILE}.{secrets.token_hex(4)}")
        _write_private(part, "\n".join(lines) + "\n")
        part.replace(self._path)


def _derive(text: str, purpose: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose).derive(text.encode())


def _new_text() -> str:
    return secrets.token_urlsafe(32)


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
