"""Nothing that a document holds is left out without a word."""

from __future__ import annotations

import io

import pytest
from openpyxl import Workbook

from interlace.resources.documents.extractor import Extractor
from interlace.resources.documents.formats.sheets import extract_xlsx
from interlace.resources.documents.limits import DocumentLimits
from interlace.resources.documents.outline import Outline


@pytest.mark.parametrize("depth", [100, 300, 20_000])
async def test_a_page_is_read_however_deep_it_is(depth: int) -> None:
    page = (
        "<html><body><p>before</p>" + "<div>" * depth + "deep <b>words</b><script>unseen()</script>"
        + "</div>" * depth + "<p>after</p></body></html>"
    )  # fmt: skip
    found = await Extractor().extract(page.encode(), name="a.html")
    assert [block.text for block in found.blocks] == ["before", "deep words", "after"]


def workbook(cells: dict[str, str]) -> bytes:
    book = Workbook()
    for place, text in cells.items():
        book.active[place] = text
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


async def test_the_last_cell_of_a_sheet_is_read() -> None:
    found = await Extractor().extract(workbook({"A1": "top", "B1048576": "bottom"}), name="a.xlsx")
    tables = [(block.rows, block.position.range) for block in found.blocks if block.kind == "table"]
    assert tables == [((("top",),), "A1:A1"), ((("bottom",),), "B1048576:B1048576")]
    assert found.warnings == ()


def test_a_sheet_of_empty_cells_is_read_to_a_place_that_is_named() -> None:
    outline = Outline(DocumentLimits(cells=50))
    extract_xlsx(
        workbook({"A1": "top", **{f"A{row}": "" for row in range(2, 200)}, "A300": "bottom"}), outline
    )
    assert [block.rows for block in outline.blocks if block.kind == "table"] == [(("top",),)]
    assert "was read to row" in outline.warnings[0]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("../../evil.txt", "evil.txt"),
        ('"../../evil.txt"', "evil.txt"),
        ('"a b.txt"', "a b.txt"),
        ("plain.txt", "plain.txt"),
        ('".."', "attachment 1"),
    ],
)
async def test_an_attachment_is_called_as_it_is_without_folders(written: str, name: str) -> None:
    mail = (
        "Subject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
        "Content-Type: text/plain; charset=iso-8859-1\r\n\r\nÜber 5 \x80\r\n--b\r\nContent-Type: text/plain\r\n"
        f"Content-Disposition: attachment; filename={written}\r\n\r\nhello\r\n--b--\r\n"
    )
    found = await Extractor().extract(mail.encode("latin-1"), name="a.eml")
    assert found.metadata["attachments"] == [name]
    assert [block.text for block in found.blocks][1:] == ["Über 5 €", name, "hello"]
