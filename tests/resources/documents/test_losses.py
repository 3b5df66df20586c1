"""Nothing that a document holds is left out without a word."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from openpyxl import Workbook

from interlace.engine.errors import NodeError
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


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'


def word(body: str, footnotes: str = "") -> bytes:
    """A Word document of this body."""
    document = docx.Document()
    root = document.element.body
    for element in parse_xml(f"<w:body {_W} {_MC}>{body}</w:body>"):
        root.insert(len(root) - 1, element)
    if footnotes:
        part = Part(
            PackURI("/word/footnotes.xml"), f"{WML}.footnotes+xml",
            f"<w:footnotes {_W}>{footnotes}</w:footnotes>".encode(), document.part.package,
        )  # fmt: skip
        document.part.relate_to(part, f"{RELATIONS}/footnotes")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


WML = "application/vnd.openxmlformats-officedocument.wordprocessingml"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def paragraph(*runs: str) -> str:
    return f"<w:p>{''.join(runs)}</w:p>"


async def test_content_controls_changes_and_notes_of_word_are_read_once() -> None:
    body = (
        paragraph(run("kept "), f'<w:ins w:id="1" w:author="a">{run("inserted")}</w:ins>')
        + f"<w:sdt><w:sdtContent>{paragraph(run('controlled'))}</w:sdtContent></w:sdt>"
        + paragraph(f'<w:moveFrom w:id="2" w:author="a">{run("moved")}</w:moveFrom>')
        + paragraph(f'<w:moveTo w:id="3" w:author="a">{run("moved")}</w:moveTo>')
        + paragraph(f"<w:r><mc:AlternateContent><mc:Choice>{paragraph(run('boxed'))}</mc:Choice>"
                    f"<mc:Fallback>{paragraph(run('boxed'))}</mc:Fallback></mc:AlternateContent></w:r>")
    )  # fmt: skip
    notes = f'<w:footnote w:type="separator" w:id="0">{paragraph(run("line"))}</w:footnote>'
    notes += f'<w:footnote w:id="1">{paragraph(run("a note"))}</w:footnote>'
    found = await Extractor().extract(word(body, notes), name="a.docx")
    assert [block.text for block in found.blocks] == [
        "kept inserted", "controlled", "moved", "boxed", "a note",
    ]  # fmt: skip


async def test_tables_within_cells_and_all_of_a_cell_are_read() -> None:
    inner = f"<w:tbl><w:tr><w:tc>{paragraph(run('inner'))}</w:tc></w:tr></w:tbl>"
    body = f"""<w:tbl><w:tr>
        <w:tc>{paragraph(f'<w:ins w:id="1" w:author="a">{run("inserted")}</w:ins>')}{inner}{paragraph()}</w:tc>
        <w:tc><w:sdt><w:sdtContent>{paragraph(run("controlled"))}</w:sdtContent></w:sdt></w:tc>
    </w:tr></w:tbl>"""
    found = await Extractor().extract(word(body), name="a.docx")
    assert [block.rows for block in found.blocks] == [(("inserted", "controlled"),), (("inner",),)]


async def test_a_cell_of_csv_may_be_long() -> None:
    found = await Extractor().extract(b'a,b\n"' + b"x" * 200_000 + b'",1\n', name="a.csv")
    assert [[len(cell) for cell in row] for row in found.blocks[0].rows] == [[1, 1], [200_000, 1]]


@pytest.mark.parametrize("encoding", ["utf-32", "utf-16", "iso2022_jp"])
async def test_texts_with_marks_and_signs(encoding: str) -> None:
    text = "東京は日本の首都です。"
    found = await Extractor().extract(text.encode(encoding), name="a.txt")
    assert [block.text for block in found.blocks] == [text]


def book(encrypted: str) -> bytes:
    file = io.BytesIO()
    container = '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
    locks = f'<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData><e:CipherData><e:CipherReference URI="{encrypted}"/></e:CipherData></e:EncryptedData></encryption>'
    package = '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>'
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("META-INF/encryption.xml", locks)
        archive.writestr("c.opf", package)
        archive.writestr("a.xhtml", "<html><body><p>words</p></body></html>")
    return file.getvalue()


async def test_a_protected_book_says_so_and_mangled_fonts_do_not_matter() -> None:
    found = await Extractor().extract(book("fonts/a.otf"), name="a.epub")
    assert [block.text for block in found.blocks] == ["words"]
    with pytest.raises(NodeError) as caught:
        await Extractor().extract(book("a.xhtml"), name="a.epub")
    assert caught.value.kind == "document_encrypted"


async def test_a_workbook_of_empty_sheets_is_empty() -> None:
    with pytest.raises(NodeError) as caught:
        await Extractor().extract(workbook({}), name="a.xlsx")
    assert caught.value.kind == "document_empty"


async def test_notes_and_numbered_paragraphs_of_open_documents_are_read() -> None:
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    note = "<t:note><t:note-citation>1</t:note-citation><t:note-body><t:p>a note</t:p></t:note-body></t:note>"
    body = f"<t:p>words{note} go on</t:p><t:numbered-paragraph><t:p>numbered</t:p></t:numbered-paragraph>"
    content = f'<o:document-content xmlns:o="{office}" xmlns:t="{text}"><o:body><o:text>{body}</o:text></o:body></o:document-content>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
    found = await Extractor().extract(file.getvalue(), name="a.odt")
    assert [block.text for block in found.blocks] == ["words go on", "numbered", "a note"]
