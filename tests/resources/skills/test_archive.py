"""Skills as folders and zip files: what goes in comes out, and what an enemy packs stays out."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.engine.errors import NodeError
from interlace.resources.skills import archive
from interlace.resources.skills.archive import read_any, read_folder, read_zip, write_folder, write_zip
from interlace.resources.skills.definition import MAX_FILE, Skill, SkillFile
from interlace.resources.skills.markdown import parse, whole, write

TEXT = "---\nname: refunds\ndescription: How refunds are made\n---\n\n# Refunds\n\nAsk first.\n"
FULL = Skill(
    name="返金 の手順",
    description="返金のとき: まず読む",
    body="# 手順\n\n---\n\n```py\nprint(1)\n```",
    license="MIT",
    compatibility="needs python",
    allowed_tools="Bash(git:*) Read",
    metadata={"version": "1.0", "of": ["a", 2]},
    extra={"author": "ann", "when": "0o17"},
    files=(
        SkillFile.of("scripts/run.sh", b"#!/bin/sh\necho hi\n", executable=True),
        SkillFile.of("assets/図.bin", b"\xff\x00\x01"),
        SkillFile.of("reference.md", b"# More\r\n"),
    ),
)


def packed(*members: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as made:
        for name, data in members:
            made.writestr(name, data, compression)
    return content.getvalue()


def refused(content: bytes, words: str) -> None:
    with pytest.raises(NodeError, match=words) as caught:
        read_any(content, name="x.zip")
    assert caught.value.kind == "skill_definition"


def test_a_skill_comes_back_as_it_went(tmp_path: Path) -> None:
    assert parse(write(FULL), FULL.files) == FULL
    (same,) = read_zip(write_zip([FULL]))
    assert {file.path: file for file in same.files} == {file.path: file for file in FULL.files}
    assert same.model_copy(update={"files": FULL.files}) == FULL
    assert write_zip([FULL]) == write_zip([FULL])
    folder = write_folder(FULL, tmp_path)
    assert os.access(folder / "scripts/run.sh", os.X_OK)
    assert not os.access(folder / "reference.md", os.X_OK)
    assert read_folder(folder) == [same]
    with pytest.raises(FileExistsError):
        write_folder(FULL, tmp_path)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=60)


@given(TEXTS, TEXTS, st.dictionaries(st.sampled_from(["a", "b", "version"]), TEXTS, max_size=3))
def test_whatever_is_written_is_read_again(description: str, body: str, metadata: dict[str, str]) -> None:
    skill = Skill(name="x", description=f"d{description}", body=body.strip("\n"), metadata=metadata)
    assert parse(write(skill)) == skill


def test_several_skills_of_one_zip_and_what_lies_beside_them() -> None:
    content = packed(
        ("README.md", b"not a skill"),
        ("pack/one/SKILL.md", TEXT.replace("refunds", "one").encode()),
        ("pack/one/examples/SKILL.md", b"part of one"),
        ("pack/two/SKILL.md", b"---\ndescription: no name\n---\nBody"),
        ("__MACOSX/pack/._SKILL.md", b"\0"),
        ("pack/two/.git/config", b"x"),
    )
    one, two = read_any(content)
    assert (one.name, [file.path for file in one.files]) == ("one", ["examples/SKILL.md"])
    assert (two.name, two.files, two.body) == ("two", (), "Body")
    (alone,) = read_any(packed(("SKILL.md", b"---\ndescription: d\n---\n")), name="named.zip")
    assert alone.name == "named"
    (text,) = read_any(TEXT.replace("\n", "\r\n").encode("utf-8-sig"), name="SKILL.md")
    assert (text.name, text.body) == ("refunds", "# Refunds\n\nAsk first.")


@pytest.mark.parametrize(
    "name",
    [
        "../evil.md",
        "/etc/evil",
        "a/../../evil",
        "C:/evil",
        "a\\..\\evil",
        "a//b",
        "con.txt",
        "a/ b",
        "a\nb",
        "nul",
    ],
)
def test_paths_that_lead_out_are_refused(name: str) -> None:
    refused(packed(("SKILL.md", TEXT.encode()), (zipfile.ZipInfo(name), b"x")), "no path below")


def test_a_name_cut_at_its_zero_is_refused() -> None:
    content = packed(("SKILL.md", TEXT.encode()), ("evil.mdX/../../y", b"x"))
    refused(content.replace(b"evil.mdX/../../y", b"evil.md\0/../../y"), "no path below")


def test_links_and_devices_are_refused(tmp_path: Path) -> None:
    for kind in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR):
        link = zipfile.ZipInfo("passwords")
        link.external_attr = (kind | 0o777) << 16
        refused(packed(("SKILL.md", TEXT.encode()), (link, b"/etc/passwd")), "a link or no file")
    folder = tmp_path / "skill"
    folder.mkdir()
    (folder / "SKILL.md").write_text(TEXT)
    (folder / "passwords").symlink_to("/etc/passwd")
    with pytest.raises(NodeError, match="a link or no file"):
        read_folder(folder)
    (folder / "passwords").unlink()
    (folder / "out").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(NodeError, match="a link or no file"):
        read_folder(folder)


def test_bombs_are_put_out_before_they_unpack(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = b"\0" * (MAX_FILE + 1)
    refused(packed(("SKILL.md", TEXT.encode()), ("zeros", zeros)), "too large")
    many = [(f"z{number}", b"\0" * MAX_FILE) for number in range(11)]
    refused(packed(("SKILL.md", TEXT.encode()), *many), "too large")
    # A directory that lies about the size.
    content = bytearray(packed(("SKILL.md", TEXT.encode()), ("zeros", zeros)))
    size = (MAX_FILE + 1).to_bytes(4, "little")
    assert content.count(size) == 2
    refused(bytes(content).replace(size, (10).to_bytes(4, "little")), "too large|cannot be read")
    monkeypatch.setattr(archive, "_ENTRIES", 3)
    refused(packed(*((f"f{number}", b"") for number in range(4))), "4 entries")


def test_what_is_no_skill_says_why() -> None:
    refused(packed(("other.md", b"x")), "no SKILL.md")
    refused(packed(("SKILL.md", TEXT.encode()), ("a.md", b"1"), ("A.md", b"2")), "two files are called")
    refused(packed(("SKILL.md", TEXT.encode()), ("a", b"1"), ("a/b", b"2")), "a file and a folder")
    refused(packed(("SKILL.md", b"\xff\xfe")), "not UTF-8")
    refused(packed(("SKILL.md", TEXT.encode()))[:60], "cannot be read")
    refused(b"\x89PNG\r\n\x1a\n\xff", "neither a zip file nor")
    refused(b"# Just text", "does not begin with front matter")
    refused(b"---\nname: x\n", "has no end")
    refused(b"---\nname: x\n---\n", "has no description")
    refused(b"---\nname: x\ndescription: use when: x\n---\n", "line 3")
    refused(b"---\nname: a/b\ndescription: d\n---\n", "cannot be the name")
    refused(b"---\nname: x\ndescription: '  '\n---\n", "agents choose by it")
    refused(b"---\n" + b"a: [" * 50_000 + b"\n---\n", "characters; 64,000 are allowed")
    refused(b"---\nname: x\ndescription: &a [d]\nmore: *a\n---\n", "description")


def test_an_encrypted_zip_is_refused() -> None:
    content = bytearray(packed(("SKILL.md", TEXT.encode()), compression=zipfile.ZIP_STORED))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + at] |= 1
    refused(bytes(content), "encrypted")


def test_an_agent_reads_the_text_with_its_scripts() -> None:
    text = whole(FULL)
    assert text.startswith("# Skill: 返金 の手順\n\n返金のとき: まず読む\n\n# 手順")
    assert "## File scripts/run.sh\n\n```sh\n#!/bin/sh\necho hi\n```" in text
    assert "## File assets/図.bin (3 bytes, not text)" in text
    long = FULL.model_copy(
        update={"files": (SkillFile.of("big.txt", b"x" * 70_000), SkillFile.of("f.md", b"```\na\n```"))}
    )
    assert "## File big.txt (70,000 bytes, too long to be shown here)" in whole(long)
    assert "````md\n```\na\n```\n````" in whole(long)
