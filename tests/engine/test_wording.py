from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from interlace.engine.document import Identifier, Seconds
from interlace.engine.source.wording import Fault, dotted, faults
from interlace.engine.validate.inference import sentence


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Bearer(Model):
    type: Literal["bearer"]
    token: str


class Basic(Model):
    type: Literal["basic"]
    user: str


class Either(Model):
    left: int | None = None
    right: int | None = None

    @model_validator(mode="after")
    def _one(self) -> Either:
        if (self.left is None) == (self.right is None):
            raise ValueError("give exactly one of 'left' and 'right'")
        return self


class Whole(Model):
    auth: Annotated[Bearer | Basic, Field(discriminator="type")] | None = None
    untagged: Bearer | Basic | None = None
    size: int | Literal["auto"] = "auto"
    shape: list[int] | dict[str, int] | None = None
    either: Either | None = None
    while_: str | None = Field(None, alias="while", max_length=5)
    pair: tuple[int, int] | None = None
    names: dict[Identifier, Seconds] = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list, max_length=1)


def found(**raw: Any) -> list[tuple[str, str]]:
    return [(fault.code, dotted(fault.path)) for fault in told(**raw)]


def told(**raw: Any) -> list[Fault]:
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(raw)
    return faults(caught.value, Whole, raw, "in config")


@pytest.mark.parametrize(
    ("raw", "code", "path", "message", "fix"),
    [
        ({"auth": {"type": "bearr"}}, "bad_value", "auth.type", "'type' must be one of bearer, basic, not the text 'bearr'.", "Did you mean 'bearer'?"),
        ({"auth": {"token": "x"}}, "missing_field", "auth.type", "The field 'type' in auth is required.", "Add type: …"),
        ({"auth": {"type": "bearer", "token": "x", "user": "y"}}, "unknown_field", "auth.user", "There is no field 'user' in auth.", "Known: token, type."),
        ({"auth": 5}, "wrong_type", "auth", "'auth' must be a mapping of names to values, not the number 5.", None),
        ({"size": "big"}, "wrong_type", "size", "'size' must be a whole number or one of 'auto', not the text 'big'.", None),
        ({"shape": 5}, "wrong_type", "shape", "'shape' must be a list or a mapping of names to values, not the number 5.", None),
        ({"shape": ["x"]}, "wrong_type", "shape[0]", "'shape' must be a whole number, not the text 'x'.", None),
        ({"either": {}}, "bad_value", "either", "'either': give exactly one of 'left' and 'right'.", None),
        ({"while": "n > 100"}, "out_of_range", "while", "'while' must have at most 5 characters.", None),
        ({"pair": [1]}, "missing_field", "pair[1]", "The field 1 in pair is required.", "Add 1: …"),
        ({"names": {"9x": 1}}, "bad_id", "names.9x", "An id cannot be the text '9x'.", None),
        ({"names": {"x": True}}, "bad_duration", "names.x", "'x': a duration is a text such as '30s' or a number of seconds, not true or false.", None),
        ({"tags": ["a", "b"]}, "out_of_range", "tags", "'tags' must have at most 1 entry.", None),
        ({"whil": "x"}, "unknown_field", "whil", "There is no field 'whil' in config.", "Did you mean 'while'?"),
    ],
)  # fmt: skip
def test_faults_in_words(raw: dict[str, Any], code: str, path: str, message: str, fix: str | None) -> None:
    (fault,) = told(**raw)
    assert (fault.code, dotted(fault.path), fault.message) == (code, path, message)
    assert fix is None or fault.fix == fix


def test_each_place_is_told_once() -> None:
    places = [path for _, path in found(untagged={"type": "bearer", "tokn": "x"}, size=[1])]
    assert len(places) == len(set(places))
    assert "size" in places
    assert "untagged.tokn" in places


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("there is none", "There is none."),
        ("main() on line 1 needs 'a'.", "main() on line 1 needs 'a'."),
        ("which?", "Which?"),
    ],
)
def test_a_finding_becomes_a_sentence_and_code_stays_as_it_is(said: str, shown: str) -> None:
    assert sentence(said) == shown
