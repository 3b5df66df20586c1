"""JavaScript's own functions and methods, by the function of `rules` that does the same."""

from __future__ import annotations

from typing import Final, NamedTuple


class Rule(NamedTuple):
    """A function of `rules`; `kind` is what it gives, `most` how many arguments it takes besides the owner."""

    name: str
    kind: str = "any"
    most: int = 1


def _rules(kind: str, most: int, **names: str) -> dict[str, Rule]:
    return {theirs: Rule(ours, kind, most) for theirs, ours in names.items()}


METHODS: Final[dict[str, Rule]] = {
    **_rules("list", 1, map="js_map", filter="js_filter", flatMap="js_flat_map", flat="js_flat", sort="js_sort", reverse="js_reverse"),
    **_rules("any", 1, find="js_find", findLast="js_find_last", at="js_at", forEach="js_for_each", fill="js_fill"),
    **_rules("bool", 1, some="js_some", every="js_every", startsWith="js_starts_with", endsWith="js_ends_with", test="js_test", has="js_has",
             hasOwnProperty="js_has_own", delete="js_method_delete"),
    **_rules("number", 1, findIndex="js_find_index", lastIndexOf="js_last_index_of", charCodeAt="js_char_code", codePointAt="js_char_code",
             localeCompare="js_locale_compare", search="js_search"), **_rules("text", 1, digest="js_digest"), **_rules("any", 1, update="js_update"),
    **_rules("any", 2, reduce="js_reduce", slice="js_slice"), **_rules("any", 99, concat="js_concat", splice="js_splice"),
    **_rules("bool", 2, includes="js_includes"), **_rules("number", 2, indexOf="js_index_of"), **_rules("number", 99, push="js_push", unshift="js_unshift"),
    **_rules("any", 0, pop="js_pop", shift="js_shift"), **_rules("text", 1, join="js_join", charAt="js_char_at", repeat="js_repeat",
                                                               normalize="js_normalize", toFixed="js_fixed", toString="js_to_text"),
    **_rules("text", 0, trim="js_trim", trimStart="js_trim_start", trimEnd="js_trim_end", toLowerCase="js_lower", toUpperCase="js_upper",
             toLocaleLowerCase="js_lower", toLocaleUpperCase="js_upper", toISOString="js_to_iso", toJSON="js_to_iso"),
    **_rules("text", 2, replace="js_replace", replaceAll="js_replace_all", substring="js_substring", substr="js_substr", padStart="js_pad_start",
             padEnd="js_pad_end"),
    **_rules("list", 2, split="js_split"), **_rules("any", 1, match="js_match", exec="js_exec", get="js_method_get", add="js_method_add"),
    **_rules("list", 1, matchAll="js_match_all"), **_rules("any", 2, set="js_method_set"), **_rules("number", 0, getTime="js_time", valueOf="js_time"),
    **_rules("list", 0, keys="js_method_keys", values="js_method_values", entries="js_method_entries"),
}  # fmt: skip
DATE_PARTS: Final = ("FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds")
FUNCTIONS: Final[dict[str, Rule]] = {
    "Number": Rule("js_number", "number"), "String": Rule("js_text", "text"), "Boolean": Rule("js_truthy", "bool"), "parseInt": Rule("js_parse_int", "number", 2),
    "parseFloat": Rule("js_parse_float", "number"), "isNaN": Rule("js_is_nan", "bool"), "isFinite": Rule("js_is_finite", "bool"),
    "encodeURIComponent": Rule("js_encode", "text"), "encodeURI": Rule("js_encode_uri", "text"), "decodeURIComponent": Rule("js_decode", "text"),
    "decodeURI": Rule("js_decode", "text"), "btoa": Rule("js_to_base64", "text"), "atob": Rule("js_from_base64", "text"), "structuredClone": Rule("js_copy"),
    "Array": Rule("js_array", "list", 99), "Error": Rule("Error"), "TypeError": Rule("Error"),
}  # fmt: skip
STATIC: Final[dict[tuple[str, str], Rule]] = {
    **{("Math", theirs): Rule(f"js_{theirs}", "number") for theirs in ("floor", "ceil", "round", "trunc", "abs", "sign", "sqrt", "log", "log10")},
    ("Math", "max"): Rule("js_max", "number", 99), ("Math", "min"): Rule("js_min", "number", 99), ("Math", "pow"): Rule("js_power", "number", 2),
    ("Math", "random"): Rule("js_random", "number", 0), ("Object", "keys"): Rule("js_keys", "list"), ("Object", "values"): Rule("js_values", "list"),
    ("Object", "entries"): Rule("js_entries", "list"), ("Object", "fromEntries"): Rule("js_from_entries", "object"), ("Object", "assign"): Rule("js_assign", "object", 99),
    ("JSON", "stringify"): Rule("js_to_json", "any", 3), ("JSON", "parse"): Rule("js_from_json"), ("Array", "isArray"): Rule("js_is_array", "bool"),
    ("Array", "from"): Rule("js_array_from", "list", 2), ("Number", "isInteger"): Rule("js_is_integer", "bool"), ("Number", "isNaN"): Rule("js_is_nan", "bool"),
    ("Number", "isFinite"): Rule("js_is_finite", "bool"), ("Number", "parseFloat"): Rule("js_parse_float", "number"), ("Number", "parseInt"): Rule("js_parse_int", "number", 2),
    ("Date", "now"): Rule("js_now", "number", 0), ("Date", "parse"): Rule("js_moment", "number"), ("Date", "UTC"): Rule("js_utc", "number", 7),
    ("String", "fromCharCode"): Rule("js_from_char_codes", "text", 99), ("Buffer", "from"): Rule("Buffer", "any", 2), ("crypto", "randomUUID"): Rule("js_uuid", "text", 0), ("crypto", "createHash"): Rule("Hash"),
    ("Promise", "all"): Rule("js_iterate", "list"), ("console", "log"): Rule("print", "any", 99), ("console", "error"): Rule("print", "any", 99),
    ("console", "warn"): Rule("print", "any", 99), ("console", "info"): Rule("print", "any", 99),
}  # fmt: skip
NEW: Final[dict[str, Rule]] = {
    "Date": Rule("js_date", "any", 7), "Set": Rule("js_set"), "Map": Rule("js_new_map"), "Error": Rule("Error"), "TypeError": Rule("Error"),
    "RangeError": Rule("Error"), "Array": Rule("js_array", "list", 99),
}  # fmt: skip
CONSTANTS: Final[dict[tuple[str, str], str]] = {
    ("Math", "PI"): "3.141592653589793", ("Math", "E"): "2.718281828459045", ("Number", "MAX_SAFE_INTEGER"): "9007199254740991",
}  # fmt: skip
NAMES: Final[dict[str, tuple[str, str]]] = {
    "undefined": ("undefined", "any"), "NaN": ("float('nan')", "number"), "Infinity": ("float('inf')", "number"),
}  # fmt: skip
