"""A step of a list of operations: a one-key object, such as `{sort: {by: item.price}}`."""

from __future__ import annotations

from typing import Any

from pydantic import GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from interlace.engine.node import Config
from interlace.engine.problems import nearest


class Step(Config):
    """One operation of several possible; subclasses declare one optional field for each."""

    @model_validator(mode="before")
    @classmethod
    def _one_key(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        known = [info.alias or name for name, info in cls.model_fields.items()]
        for key in data:
            if key not in known:
                guess = nearest(str(key), known)
                hint = f"; did you mean {guess!r}?" if guess else ""
                raise ValueError(f"no operation {key!r}{hint} Known: {', '.join(known)}")
        if len(data) != 1:
            raise ValueError(
                f"a step is an object with one key, the operation; this one has {len(data)}: {', '.join(data)}"
            )
        key, value = next(iter(data.items()))
        if value is None or value is False:
            raise ValueError(
                f"the operation {key!r} has no settings; write 'true' for its defaults where it has any"
            )
        return data

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        handler.resolve_ref_schema(schema).update({"minProperties": 1, "maxProperties": 1})
        return schema

    @property
    def operation(self) -> str:
        """The name of the step's one field."""
        return next(iter(self.model_fields_set))

    @property
    def name(self) -> str:
        """The operation as the document writes it."""
        field = self.operation
        return type(self).model_fields[field].alias or field
