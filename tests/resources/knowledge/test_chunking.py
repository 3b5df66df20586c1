"""Chunks follow the structure of a document."""

from __future__ import annotations

import time

import pytest

from interlace.resources.documents.document import Block, Position
from interlace.resources.documents.limits import DocumentLimits
from interlace.resources.documents.outline import Outline
from interlace.resources.knowledge.chunking import cut, weigh
from interlace.resources.knowledge.sentences import sentences

LONG = " ".join(f"Sentence number {n} says something about the matter." for n in range(40))
JAPANESE = "".join(f"第{n}条の内容はここに書かれています。" for n in range(40))


def outline() -> Outline:
    return Outline(DocumentLimits())


def test_the_path_of_headings_is_kept() -> None:
    doc = outline()
    doc.heading("Handbook", 1)
    doc.paragraph("x " * 100)
    doc.heading("Leave", 2)
    doc.paragraph(LONG)
    chunks = cut(doc.blocks, size=100, overlap=20)
    assert [chunk.path for chunk in chunks][1:] == [("Handbook", "Leave")] * (len(chunks) - 1)
    assert chunks[-1].embedded("Guide").startswith("Guide > Handbook > Leave\n")


def test_no_chunk_is_larger_than_asked_and_nothing_is_lost() -> None:
    for text in (LONG, JAPANESE, "word" * 900):
        chunks = cut([Block(kind="paragraph", text=text)], size=64, overlap=0)
        assert len(chunks) > 3
        assert all(weigh(chunk.text) <= 66 for chunk in chunks)
        assert "".join("".join(c.text for c in chunks).split()) == "".join(text.split())


def test_the_overlap_repeats_whole_sentences() -> None:
    for text in (LONG, JAPANESE):
        first, second, *_ = cut([Block(kind="paragraph", text=text)], size=64, overlap=24)
        last = sentences(first.text)[-1].text
        assert second.text.startswith(last)


def test_rows_of_tables_keep_their_header() -> None:
    rows = (("name", "price"), *((f"part {n}", str(n)) for n in range(60)))
    chunks = cut(
        [Block(kind="table", rows=rows, position=Position(sheet="Parts", range="A1:B61"))],
        size=64,
        overlap=16,
    )
    assert len(chunks) > 3
    assert all(chunk.text.startswith("| name | price |\n| - | - |\n| part") for chunk in chunks)
    assert chunks[0].position == {"sheet": "Parts", "range": "A1:B61"}
    assert sum(chunk.text.count("| part") for chunk in chunks) == 60


def test_slides_and_sheets_are_not_mixed_and_pages_go_on() -> None:
    doc = outline()
    for slide in (1, 2):
        doc.paragraph(f"About {slide}.", Position(slide=slide))
    assert [chunk.position["slide"] for chunk in cut(doc.blocks, size=100, overlap=10)] == [1, 2]
    doc = outline()
    for page in (1, 2):
        doc.paragraph(f"About {page}.", Position(page=page))
    (chunk,) = cut(doc.blocks, size=100, overlap=10)
    assert chunk.position == {"page": 1, "page_end": 2}


def test_small_sections_stay_together() -> None:
    doc = outline()
    for n in range(4):
        doc.heading(f"Part {n}", 2)
        doc.paragraph("Short.")
    (chunk,) = cut(doc.blocks, size=200, overlap=10)
    assert "Part 0\nShort.\nPart 1" in chunk.text


def test_sentences_of_three_languages() -> None:
    def of(text: str) -> list[str]:
        return [sentence.text for sentence in sentences(text)]

    assert of("Dr. Smith left the U.S. today. He ate 3.5 apples! Why?") == [
        "Dr. Smith left the U.S. today.",
        "He ate 3.5 apples!",
        "Why?",
    ]
    assert of("休暇は20日です。「本当に\uff1f」はい。") == ["休暇は20日です。", "「本当に\uff1f」", "はい。"]
    assert of("年假为二十天。可以结转\uff01") == ["年假为二十天。", "可以结转\uff01"]
    for sentence in sentences("  One.  Two. "):
        assert "  One.  Two. "[sentence.start : sentence.end] == sentence.text


@pytest.mark.parametrize("unit", ["x", ".", "漢", "ab cd ", "漢x ", '"', "!", "a.", "\n"])
def test_the_cost_of_one_long_line_grows_with_its_length_alone(unit: str) -> None:
    def took(length: int) -> float:
        text = (unit * length)[:length]
        before = time.process_time()
        chunks = cut([Block(kind="paragraph", text=f"a{text}b", position=Position())], size=100, overlap=10)
        spent = time.process_time() - before
        assert all(weigh(chunk.text) <= 2 * 100 for chunk in chunks)
        return spent

    # Eight times the length: eight times the time when linear, 64 times when quadratic.
    assert took(160_000) < 24 * max(took(20_000), 0.01)


def test_nothing_of_a_long_line_is_lost() -> None:
    text = "".join(chr(97 + number % 26) for number in range(50_000))
    chunks = cut([Block(kind="paragraph", text=text, position=Position())], size=100, overlap=0)
    assert "".join(chunk.text for chunk in chunks) == text


def test_a_row_or_header_longer_than_a_chunk_is_cut_and_not_repeated() -> None:
    rows = (("name", "note"), ("long", "word " * 5_000), ("short", "end"))
    chunks = cut([Block(kind="table", text="", rows=rows, position=Position())], size=100, overlap=0)
    assert all(weigh(chunk.text) <= 2 * 100 for chunk in chunks)
    assert sum(chunk.text.count("word") for chunk in chunks) == 5_000
    wide = tuple(f"column{number}" for number in range(2_000))
    many = [wide, *(("1",) * 2_000 for _ in range(20))]
    chunks = cut([Block(kind="table", text="", rows=tuple(many), position=Position())], size=100, overlap=0)
    assert sum(chunk.text.count("column7 ") for chunk in chunks) == 1


@pytest.mark.parametrize(("times", "path"), [(1, ["Leave"]), (9, ["Pay"])])
def test_a_chunk_of_several_sections_names_the_one_that_most_of_it_stands_under(
    times: int, path: list[str]
) -> None:
    doc = outline()
    doc.heading("Leave", 1)
    doc.paragraph("Five days of leave carry over.")
    doc.heading("Pay", 1)
    doc.paragraph("On the 25th. " * times)
    (chunk,) = cut(doc.blocks, size=256, overlap=32)
    assert chunk.position["path"] == path
