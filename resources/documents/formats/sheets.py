"""Workbooks (xlsx)."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime, time
from typing import Any

from interlace.resources.documents.archive import open_archive
from interlace.resources.documents.document import Position
from interlace.resources.documents.formats.properties import core_properties
from interlace.resources.documents.limits import damaged, too_large
from interlace.resources.documents.outline import Outline


def extract_xlsx(content: bytes, outline: Outline) -> None:
    """Each sheet's used cells as tables; blank rows part them. Formulas give their last computed value.

    Raises:
        DocumentFault: damaged, encrypted or too large.
    """
    open_archive(content, outline.limits).close()
    from openpyxl import load_workbook  # noqa: PLC0415 - only for workbooks
    from openpyxl.utils.exceptions import InvalidFileException  # noqa: PLC0415

    try:
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        outline.meta(core_properties(book.properties))
        outline.meta({"pages": len(book.worksheets), "sheets": [sheet.title for sheet in book.worksheets]})
        for sheet in book.worksheets:
            outline.reset()
            _sheet(sheet, outline)
        book.close()
    except (
        KeyError,
        ValueError,
        AttributeError,
        TypeError,
        SyntaxError,
        InvalidFileException,
        zipfile.BadZipFile,
    ) as error:
        raise damaged(f"the workbook cannot be read ({type(error).__name__}: {error})") from error


def _sheet(sheet: Any, outline: Outline) -> None:
    from openpyxl.utils import get_column_letter  # noqa: PLC0415 - see above

    sheet.reset_dimensions()
    rows: list[list[str]] = []
    first = 1
    cells = blank = 0

    def close(last: int) -> None:
        nonlocal rows
        if rows:
            used = [i for row in rows for i, cell in enumerate(row) if cell]
            left, right = min(used), max(used)
            place = f"{get_column_letter(left + 1)}{first}:{get_column_letter(right + 1)}{last}"
            outline.table(
                [[*row, *[""] * (right + 1 - len(row))][left : right + 1] for row in rows],
                Position(sheet=sheet.title, range=place),
            )
        rows = []

    for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
        row = [_text(value) for value in values]
        if any(row):
            if not cells:  # an empty sheet has no heading: nothing would stand under it
                outline.heading(sheet.title, 2, Position(sheet=sheet.title))
            cells += len(row)
            if cells > outline.limits.cells:
                raise too_large(f"the sheet {sheet.title!r} has more than {outline.limits.cells:,} cells")
            if not rows:
                first = number
            rows.append(row)
            continue
        close(number - 1)
        # Some files pretend to have a million rows, all of them empty.
        blank += len(row)
        if blank > outline.limits.cells:
            outline.warnings.append(
                f"the sheet {sheet.title!r} was read to row {number:,}: more than {outline.limits.cells:,} cells"
                " of it are empty"
            )
            return
    close(first + len(rows) - 1)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)  # noqa: PLR2004 - exact integers
    if isinstance(value, datetime):
        midnight = value.time() == time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value).strip()
