"""Text of scanned pages by Tesseract, where it is installed."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Iterator, Sequence

from interlace.resources.documents.limits import DocumentFault

_SCALE = 300 / 72
_SECONDS = 60


def recognise(content: bytes, pages: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Page number and text of pages of a PDF.

    Raises:
        DocumentFault: Tesseract is not installed, or fails.
    """
    program = shutil.which("tesseract")
    if program is None:
        raise DocumentFault(
            "ocr_unavailable",
            "the document has pages without text, and no OCR program is installed here; install Tesseract"
            " (the command `tesseract` with the languages you need), or set `ocr: false`",
        )
    import pypdfium2  # noqa: PLC0415 - only for OCR

    document = pypdfium2.PdfDocument(content)
    languages = _languages(program)
    for number in pages:
        picture = io.BytesIO()
        document[number - 1].render(scale=_SCALE).to_pil().save(picture, "PNG")
        done = subprocess.run(  # noqa: S603 - a fixed program; the picture is its standard input
            [program, "-", "-", "-l", languages],
            input=picture.getvalue(), capture_output=True, check=False, timeout=_SECONDS,
        )  # fmt: skip
        if done.returncode:
            raise DocumentFault(
                "ocr_unavailable", f"tesseract failed at page {number}: {done.stderr[-300:]!r}"
            )
        yield number, done.stdout.decode("utf-8", "replace")


def _languages(program: str) -> str:
    done = subprocess.run([program, "--list-langs"], capture_output=True, check=False, timeout=_SECONDS)  # noqa: S603
    known = done.stdout.decode("utf-8", "replace").split()
    wanted = [name for name in ("eng", "jpn", "chi_sim", "chi_tra", "deu", "fra", "spa") if name in known]
    return "+".join(wanted) or "eng"
