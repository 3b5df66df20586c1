"""Python that stands in CODE nodes where n8n's rules are more than our node types know."""

from __future__ import annotations

from typing import Final

SUMMARIZE: Final = """def main(items, fields, groups):
    parts = {}
    for item in items:
        parts.setdefault(tuple(repr(read(item, name)) for name in groups), []).append(item)
    made = []
    for members in parts.values():
        row = {name: read(members[0], name) for name in groups}
        for field in fields:
            values = [read(item, field["field"]) for item in members]
            row[title(field)] = summary(field, [value for value in values if value not in (None, "")])
        made.append(row)
    return {"items": made}


def read(item, name):
    for key in name.split("."):
        item = item.get(key) if isinstance(item, dict) else None
    return item


def title(field):
    names = {"countUnique": "unique_count", "append": "appended", "concatenate": "concatenated"}
    return f"{names.get(field['how'], field['how'])}_{field['field']}"


def summary(field, values):
    how = field["how"]
    if how == "sum":
        return sum(values)
    if how == "average":
        return sum(values) / len(values) if values else None
    if how in ("min", "max"):
        return (min if how == "min" else max)(values, default=None)
    if how == "countUnique":
        return len({repr(value) for value in values})
    if how == "append":
        return values
    if how == "concatenate":
        return field["separator"].join(str(value) for value in values)
    return len(values)
"""

JOIN: Final = """def main(left, right, pairs, keep, fields_from):
    made = []
    used = set()
    for one in left:
        found = [n for n, other in enumerate(right) if all(same(one, other, a, b) for a, b in pairs)]
        used.update(found)
        if found and keep in ("matches", "enrich", "all"):
            made += [merged(one, right[n], fields_from) for n in found]
        elif not found and (keep in ("all", "enrich") or (keep == "others" and fields_from != "right")):
            made.append(one)
    if keep in ("all", "others") and fields_from != "left":
        made += [other for n, other in enumerate(right) if n not in used]
    return {"items": made}


def merged(one, other, fields_from):
    return {"left": one, "right": other}.get(fields_from, {**one, **other})


def same(one, other, a, b):
    left, right = read(one, a), read(other, b)
    return left is not None and (left == right or str(left) == str(right))


def read(item, name):
    for key in name.split("."):
        item = item.get(key) if isinstance(item, dict) else None
    return item
"""

COMPARE: Final = """def main(left, right, pairs):
    in_left, same, different, in_right = [], [], [], []
    used = set()
    for one in left:
        found = next((n for n, other in enumerate(right) if n not in used and all(one.get(a) == other.get(b) for a, b in pairs)), None)
        if found is None:
            in_left.append(one)
            continue
        used.add(found)
        other = right[found]
        if one == other:
            same.append(one)
        else:
            keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
            different.append({
                "keys": {a: one.get(a) for a, _ in pairs},
                "different": {key: {"inputA": one.get(key), "inputB": other.get(key)} for key in keys},
            })
    in_right = [other for n, other in enumerate(right) if n not in used]
    return {"in_left": in_left, "same": same, "different": different, "in_right": in_right}
"""
