"""Draw the pictures of the README from the first example: `python docs/picture.py`.

`images/storm_report.svg` is the workflow as a graph, `images/run.svg` a run of it in a terminal, with what it really printed.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from interlace.engine.document import Body, Document, NodeSpec
from interlace.engine.source import load_file

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
EXAMPLE = ROOT / "examples" / "storm_report.yaml"
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

# -- the graph ---------------------------------------------------------------------------------------------------------

WIDE, HIGH, GAP = 192, 46, 26
"""Size of a node and the space between two rows."""
COLUMN = 218
ASIDE = {"days": 2.05, "alarm": 0.6, "calm": -0.6}
"""Columns of nodes that do not stand in the middle."""
COLOURS = {
    "flow": "#57606a", "logic": "#8250df", "data": "#0969da", "connect": "#1a7f37", "code": "#bc4c00",
}  # fmt: skip


@dataclass
class Box:
    """A node on the canvas, by its middle."""

    node: NodeSpec
    x: float
    y: float
    wide: float = WIDE
    high: float = HIGH


def draw_graph(document: Document) -> str:
    """The whole document as an SVG."""
    boxes = _place(document)
    left = min(box.x - box.wide / 2 for box in boxes.values()) - 24
    right = max(box.x + box.wide / 2 for box in boxes.values()) + 24
    bottom = max(box.y + box.high / 2 for box in boxes.values()) + 24
    parts = [_edge(boxes, edge.from_, edge.handle, edge.to) for edge in document.edges]
    parts += [_box(box) for box in boxes.values()]
    title = f"The workflow {document.name!r} as a graph"
    return _canvas(left, right - left, bottom, "".join(parts), title=title, ground="#ffffff")


def _place(document: Document) -> dict[str, Box]:
    rows = _rows(document)
    boxes: dict[str, Box] = {}
    y = 24.0
    for row in range(max(rows.values()) + 1):
        here = [node for node in document.nodes if rows[node.id] == row]
        high = max(_size(node)[1] for node in here)
        for node in here:
            boxes[node.id] = Box(node, ASIDE.get(node.id, 0.0) * COLUMN, y + high / 2, *_size(node))
        y += high + GAP
    return boxes


def _rows(document: Document) -> dict[str, int]:
    rows = dict.fromkeys((node.id for node in document.nodes), 0)
    for _ in document.nodes:
        for edge in document.edges:
            rows[edge.to] = max(rows[edge.to], rows[edge.from_] + 1)
    return rows


def _size(node: NodeSpec) -> tuple[float, float]:
    if node.body is None:
        return WIDE, HIGH
    return len(node.body.nodes) * (WIDE + GAP) + GAP, HIGH + 58


def _box(box: Box) -> str:
    x, y = box.x - box.wide / 2, box.y - box.high / 2
    colour = COLOURS[_group(box.node.type)]
    fill = "#f6f8fa" if box.node.body is not None else "#ffffff"
    frame = (
        f'<rect x="{x:g}" y="{y:g}" width="{box.wide:g}" height="{box.high:g}" rx="8" fill="{fill}" stroke="{colour}"/>'
        f'<rect x="{x:g}" y="{y + 8:g}" width="4" height="{box.high - 16:g}" rx="2" fill="{colour}"/>'
    )
    words = (
        f'<text x="{x + 14:g}" y="{y + 19:g}" font-size="13" fill="#1f2328">{escape(box.node.label or box.node.id)}</text>'
        f'<text x="{x + 14:g}" y="{y + 35:g}" font-size="10" fill="{colour}">{box.node.type}</text>'
    )
    return frame + words + (_inside(box, box.node.body) if box.node.body is not None else "")


def _inside(box: Box, body: Body) -> str:
    y = box.y + 18
    left = box.x - box.wide / 2 + GAP + WIDE / 2
    inner = {node.id: Box(node, left + index * (WIDE + GAP), y) for index, node in enumerate(body.nodes)}
    lines = "".join(
        f'<path d="M{a.x + WIDE / 2:g} {y:g} H{b.x - WIDE / 2 - 6:g}" fill="none" stroke="#8c959f" marker-end="url(#tip)"/>'
        for a, b in {(e.from_, e.to): (inner[e.from_], inner[e.to]) for e in body.edges}.values()
    )
    return lines + "".join(_box(part) for part in inner.values())


def _edge(boxes: dict[str, Box], source: str, handle: str, target: str) -> str:
    a, b = boxes[source], boxes[target]
    x1, y1, x2, y2 = a.x, a.y + a.high / 2, b.x, b.y - b.high / 2 - 6
    if source in ASIDE and y2 - y1 > 2 * HIGH:
        x2 += WIDE / 3
        bend = f"V{y2 - 40:g} C{x1:g} {y2 - 10:g} {x2:g} {y2 - 30:g} {x2:g} {y2:g}"
        return f'<path d="M{x1:g} {y1:g} {bend}" fill="none" stroke="#8c959f" marker-end="url(#tip)"/>'
    middle = (y1 + y2) / 2
    line = f'<path d="M{x1:g} {y1:g} C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}" fill="none" stroke="#8c959f" marker-end="url(#tip)"/>'
    if handle == "out":
        return line
    return f'{line}<text x="{(x1 + x2) / 2 + (12 if x2 > x1 else -12):g}" y="{middle + 4:g}" font-size="11" fill="#57606a" stroke="#ffffff" stroke-width="4" paint-order="stroke" text-anchor="{"start" if x2 > x1 else "end"}">{escape(handle)}</text>'


def _group(kind: str) -> str:
    from interlace.flows.platform import node_types  # noqa: PLC0415 - slow to import, and only for the graph

    return node_types()[kind].group


# -- the terminal ------------------------------------------------------------------------------------------------------

LINE, CHARACTER = 18, 7.83
MARKS = {"✓": "#3fb950", "✗": "#f85149", "-": "#8b949e", "$": "#e6edf3"}


def run_example() -> list[str]:
    """Run the example in a fresh home and give the lines of the terminal."""
    program = Path(sys.executable).parent / "interlace"
    command = f"interlace run {EXAMPLE.relative_to(ROOT)}"
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "INTERLACE_HOME": home, "INTERLACE_DATABASE_ALLOW": "examples/data/"}
        done = subprocess.run(  # noqa: S603 - our own command
            [program, *command.split()[1:]], cwd=ROOT, env=environment, check=True, capture_output=True, text=True,
        )  # fmt: skip
    progress = done.stderr.splitlines()
    inner = [line for line in progress if "[" in line]
    kept = [line for line in progress if line not in inner[3:]]
    kept.insert(kept.index(inner[2]) + 1, "  …")
    outputs = done.stdout.strip().removeprefix("report:\n")
    report, _, rest = outputs.rpartition("\n\n")
    console = Console(file=io.StringIO(), width=116, color_system=None, record=True)
    console.print(Markdown(report))
    return [
        f"$ INTERLACE_DATABASE_ALLOW=examples/data/ {command}",
        *kept,
        "report:",
        *console.export_text().rstrip().splitlines(),
        rest,
    ]


def draw_terminal(lines: list[str]) -> str:
    """Lines as a terminal window."""
    wide = max(len(line) for line in lines) * CHARACTER + 48
    high = len(lines) * LINE + 64
    rows = "".join(
        f'<text x="24" y="{56 + index * LINE}" fill="{MARKS.get(line[:1], "#c9d1d9")}" xml:space="preserve">{escape(line)}</text>'
        for index, line in enumerate(lines)
    )
    dots = "".join(
        f'<circle cx="{24 + 18 * i}" cy="22" r="5" fill="{c}"/>'
        for i, c in enumerate(("#f85149", "#d29922", "#3fb950"))
    )
    content = f'{dots}<g font-family="{MONO}" font-size="13">{rows}</g>'
    return _canvas(0, wide, high, content, title="A run of the first example in a terminal", ground="#0d1117")


def _canvas(left: float, wide: float, high: float, content: str, *, title: str, ground: str) -> str:
    """An SVG on an opaque card, so that it reads the same on light and dark pages."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:g} 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}" role="img"'
        f' font-family="{SANS}"><title>{escape(title)}</title>'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#8c959f"/></marker></defs>'
        f'<rect x="{left + 1:g}" y="1" width="{wide - 2:g}" height="{high - 2:g}" rx="10" fill="{ground}" stroke="#8c959f"/>'
        f"{content}</svg>\n"
    )


def main() -> None:
    """Write both pictures."""
    IMAGES.mkdir(exist_ok=True)
    document = load_file(EXAMPLE).require()
    (IMAGES / "storm_report.svg").write_text(draw_graph(document), "utf-8")
    (IMAGES / "run.svg").write_text(draw_terminal(run_example()), "utf-8")


if __name__ == "__main__":
    main()
