"""Documents of all formats to blocks; hostile and damaged ones to errors that say what is wrong."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from interlace.engine.errors import NodeError
from interlace.resources.documents.document import Extracted
from interlace.resources.documents.extractor import Extractor
from interlace.resources.documents.limits import DocumentLimits
from interlace.resources.documents.rendering import to_markdown, to_pages, to_tables
from tests.resources.documents.files import corpus, packed, pdf, slides, word

LEAST_LIKENESS = {"docling-csv-semicolon.csv": 0.9}
"""The expected file repeats the header as another program sees it; the others are 0.97 alike at least."""


async def fault(content: bytes, name: str = "", limits: DocumentLimits | None = None) -> NodeError:
    with pytest.raises(NodeError) as raised:
        await Extractor(limits=limits).extract(content, name=name)
    return raised.value


async def test_the_corpus_is_extracted_as_expected() -> None:
    folder = corpus()
    extractor = Extractor()
    for path in sorted(p for p in folder.iterdir() if p.is_file() and p.name != "MANIFEST.tsv"):
        found = await extractor.extract(path.read_bytes(), name=path.name)
        text = to_markdown(found.blocks)
        assert found.format == {"md": "markdown"}.get(path.suffix[1:], path.suffix[1:])
        assert len(text) > 100, path.name
        expected = folder / "expected" / f"{path.name}.expected.md"
        if expected.exists():
            words = [re.findall(r"\w+", t.lower()) for t in (expected.read_text("utf-8"), text)]
            likeness = difflib.SequenceMatcher(None, *words, autojunk=False).ratio()
            assert likeness >= LEAST_LIKENESS.get(path.name, 0.97), (path.name, likeness)


async def test_word_keeps_headings_tables_and_where_they_stand() -> None:
    content = word(("Heading 1", "Leave"), ("Normal", "You may go."), table=[["days", "who"], ["20", "all"]])
    found = await Extractor().extract(content, name="policy.docx")
    assert to_markdown(found.blocks) == "# Leave\n\nYou may go.\n\n| days | who |\n| - | - |\n| 20 | all |"
    assert found.blocks[1].position.path == ("Leave",)
    assert to_tables(found)[0]["rows"] == [{"days": "20", "who": "all"}]
    assert Extracted.from_json(found.as_json()) == found


async def test_pages_of_a_pdf_can_be_chosen() -> None:
    content = pdf("The first page", "The second page", "The third page")
    found = await Extractor().extract(content, pages=[(2, 2)])
    assert [page["page"] for page in to_pages(found)] == [2]
    assert "second" in to_markdown(found.blocks)
    assert found.metadata["pages"] == 3
    with pytest.raises(NodeError, match="the PDF has 3") as raised:
        await Extractor().extract(content, pages=[(8, 9)])
    assert raised.value.kind == "document_pages"


async def test_slides_can_be_chosen_and_texts_have_none() -> None:
    deck = await Extractor().extract(slides("One", "Two"), pages=[(2, 5)])
    assert [block.position.slide for block in deck.blocks if block.kind == "heading"] == [2]
    with pytest.raises(NodeError, match="has no pages"):
        await Extractor().extract(b"just text", name="a.txt", pages=[(1, 1)])


async def test_the_content_decides_and_not_the_name() -> None:
    found = await Extractor().extract(word(("Normal", "in truth a letter")), name="numbers.xlsx")
    assert found.format == "docx"
    assert (await Extractor().extract(b"<html><body><p>Hi</p></body></html>", name="a.txt")).format == "html"


async def test_text_of_other_encodings_is_read() -> None:
    found = await Extractor().extract("日本語の文章です。これは試験です。".encode("utf-16"), name="a.txt")
    assert found.blocks[0].text.startswith("日本語")
    assert found.metadata["language"] == "ja"


@pytest.mark.parametrize(
    ("content", "name", "kind", "said"),
    [
        (b"", "a.pdf", "document_empty", "is empty"),
        (b" \n", "a.txt", "document_empty", "is empty"),
        (b"%PDF-1.4\nbroken", "a.pdf", "document_damaged", "PDF"),
        (b"PK\x03\x04broken", "a.docx", "document_damaged", "broken archive"),
        (b"\x00\x01\x02\x03", "a.docx", "document_damaged", "called docx"),
        (b"\x89PNG\r\n\x1a\n123", "a.pdf", "document_unsupported", "PNG"),
        (packed(a_dot_txt=b"x"), "a.zip", "document_unsupported", "archive"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "a.docx",
            "document_encrypted",
            "password",
        ),
        (pdf("secret", encrypted=True), "a.pdf", "document_encrypted", "password"),
        (pdf("", ""), "a.pdf", "document_scanned", "ocr: true"),
        (b"<html><body></body></html>", "a.html", "document_empty", "no text"),
        (packed(word__document_dot_xml=b"<broken"), "a.docx", "document_damaged", ""),
    ],
)
async def test_what_cannot_be_extracted_says_why(content: bytes, name: str, kind: str, said: str) -> None:
    found = await fault(content, name)
    assert (found.kind, said in str(found), found.retryable) == (kind, True, False), str(found)


async def test_metadata_needs_no_text() -> None:
    found = await Extractor().extract(pdf("", ""), metadata_only=True)
    assert (found.metadata["pages"], found.metadata["scanned"]) == (2, True)


async def test_a_zip_bomb_is_not_unpacked() -> None:
    bomb = packed(word__document_dot_xml=b"0" * 3_000_000)
    assert len(bomb) < 10_000
    found = await fault(bomb, limits=DocumentLimits(unpacked_mb=1))
    assert found.kind == "document_too_large"


@pytest.mark.parametrize(
    "part", ["word__document_dot_xml", "xl__workbook_dot_xml", "ppt__presentation_dot_xml"]
)
async def test_xml_entities_are_refused(part: str) -> None:
    laughs = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'
    assert (await fault(packed(**{part: laughs}))).kind == "document_unsafe"


async def test_files_of_this_machine_are_not_read_by_entities(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden words")
    book = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file://%s">]><container>&a;</container>' % str(secret).encode()
    assert (await fault(packed(META_dash=b"", **{"META-INF__container.xml": book}))).kind == "document_unsafe"
    page = b'<!DOCTYPE html [<!ENTITY a SYSTEM "file://%s">]><html><body><p>x &a;</p></body></html>'
    found = await Extractor().extract(page % str(secret).encode())
    assert "hidden" not in to_markdown(found.blocks)


async def test_time_and_memory_end_the_process_and_not_this_one() -> None:
    rows = b"\n".join(b"a,b,c" for _ in range(400_000))
    slow = await fault(rows, "a.csv", DocumentLimits(seconds=0.01))
    assert slow.kind == "document_too_large"
    greedy = await fault(rows, "a.csv", DocumentLimits(memory_mb=110))
    assert greedy.kind == "document_too_large"


async def test_a_file_over_the_limit_is_refused_at_once() -> None:
    found = await fault(b"x" * 100, "a.txt", DocumentLimits(max_bytes=10))
    assert (found.kind, "100 bytes" in str(found)) == ("document_too_large", True)


async def test_cells_and_text_have_limits() -> None:
    assert (await fault(b"a,b\n" * 50, "a.csv", DocumentLimits(cells=20))).kind == "document_too_large"
    assert (await fault(b"word " * 50, "a.txt", DocumentLimits(characters=20))).kind == "document_too_large"


async def test_it_works_without_namespaces_too() -> None:
    found = await Extractor(isolate=False).extract(b"# Title\n\ntext", name="a.md")
    assert [block.kind for block in found.blocks] == ["heading", "paragraph"]
