"""Python that reads HTML by CSS selectors, for CODE nodes: tags, classes, ids, attributes, descendants and children."""

from __future__ import annotations

from typing import Final

EXTRACT: Final = """import re
from html.parser import HTMLParser

EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


def main(html, fields):
    found = {}
    for page in html if isinstance(html, list) else [html]:
        root = Page().read(page or "")
        for field in fields:
            values = [value(element, field) for element in select(root, field["selector"])]
            values = [one for one in values if one is not None]
            if field["list"]:
                found.setdefault(field["name"], []).extend(values)
            elif field["name"] not in found:
                found[field["name"]] = values[0] if values else ""
    return {"found": found}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children = tag, dict(attributes), parent, []

    def text(self):
        return "".join(one if isinstance(one, str) else one.text() for one in self.children if getattr(one, "tag", "") not in ("script", "style"))

    def html(self):
        return "".join(one if isinstance(one, str) else one.whole() for one in self.children)

    def whole(self):
        written = "".join(f\' {name}="{text or ""}"\' for name, text in self.attributes.items())
        return f"<{self.tag}{written}>" + ("" if self.tag in EMPTY else f"{self.html()}</{self.tag}>")

    def below(self):
        for one in self.children:
            if not isinstance(one, str):
                yield one
                yield from one.below()


class Page(HTMLParser):
    def read(self, text):
        self.here = self.root = Element("", {}, None)
        self.feed(text)
        self.close()
        return self.root

    def handle_starttag(self, tag, attributes):
        element = Element(tag, attributes, self.here)
        self.here.children.append(element)
        if tag not in EMPTY:
            self.here = element

    def handle_startendtag(self, tag, attributes):
        self.here.children.append(Element(tag, attributes, self.here))

    def handle_endtag(self, tag):
        here = self.here
        while here.parent is not None and here.tag != tag:
            here = here.parent
        if here.parent is not None:
            self.here = here.parent

    def handle_data(self, data):
        self.here.children.append(data)


def select(root, selector):
    groups = [re.findall(r"[>+~]|[^\\s>+~\\[]*(?:\\[[^\\]]*\\][^\\s>+~\\[]*)*", group) for group in selector.split(",")]
    groups = [[part for part in group if part] for group in groups]
    return [element for element in root.below() if any(fits(element, group) for group in groups if group)]


def fits(element, parts):
    if not simple(element, parts[-1]):
        return False
    if len(parts) == 1:
        return True
    if parts[-2] == ">":
        return element.parent is not None and len(parts) > 2 and fits(element.parent, parts[:-2])
    if parts[-2] in ("+", "~"):
        raise ValueError(f"the selector {parts[-2]!r} is not known here")
    parent = element.parent
    while parent is not None and parent.tag:
        if fits(parent, parts[:-1]):
            return True
        parent = parent.parent
    return False


def simple(element, part):
    for kind, name, test, text in re.findall(r\'([.#:]?)([\\w*-]+)|\\[([\\w-]+(?:[~^$*|]?=)?)"?([^"\\]]*)"?\\]\', part.replace("\'", \'"\')):
        if kind == ":":
            same = [one for one in element.parent.children if not isinstance(one, str)]
            if name not in ("first-child", "last-child") or element is not same[0 if name == "first-child" else -1]:
                return False
        elif kind == "." and name not in (element.attributes.get("class") or "").split():
            return False
        elif kind == "#" and element.attributes.get("id") != name:
            return False
        elif not kind and name and name not in ("*", element.tag):
            return False
        elif test and not attribute(element, test, text):
            return False
    return True


def attribute(element, test, text):
    name = re.match(r"[\\w-]+", test)[0]
    given, how = element.attributes.get(name), test[len(name):]
    if given is None or not how:
        return given is not None
    return {"=": given == text, "^=": given.startswith(text), "$=": given.endswith(text), "*=": text in given, "~=": text in given.split()}.get(how, False)


def value(element, field):
    kind = field["value"]
    found = element.attributes.get(field["attribute"]) if kind == "attribute" else element.attributes.get("value") if kind == "value" else element.html() if kind == "html" else element.text()
    return found.strip() if found is not None and field["trim"] else found
"""
