"""The arguments of methods as messages of gRPC."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .._native import encode_json
from .lists import inlined
from .wire.channel import api

Json: TypeAlias = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]

_KEYS = ("set", "delete", "set_json", "delete_json", "cond")


def query(dql: str, variables: dict[str, Any] | None, *, start: int = 0) -> Any:
    """Return the message of a query, at a start timestamp or on the newest version."""
    text, texts = inlined(dql, variables)
    message = api.Request(query=text, start_ts=start, read_only=True)
    message.vars.update(texts)
    return message


def refuse_unnamed(given: tuple[object, ...]) -> None:
    """Raise TypeError for what `mutate` is given without a name."""
    if given:
        name = (
            'set="..." adds N-Quads, delete="..." removes them'
            if isinstance(given[0], str)
            else "set_json=... adds dicts, delete_json=... removes them"
        )
        raise TypeError(f"mutate takes its arguments by name: {name}")


def mutation(
    *,
    set: str | None = None,  # noqa: A002 - as DQL calls it
    delete: str | None = None,
    set_json: Json | None = None,
    delete_json: Json | None = None,
    cond: str = "",
) -> Any | None:
    """Return the message of a mutation, or None where there is nothing to be changed."""
    message = api.Mutation(cond=cond)
    for name, quads, field in (("set", set, "set_nquads"), ("delete", delete, "del_nquads")):
        if quads is None:
            continue
        if not isinstance(quads, str):
            kind = type(quads).__name__
            raise TypeError(
                f"{name} is a text of N-Quads, not {kind}: pass dicts and lists of them as"
                f" {name}_json"
            )
        setattr(message, field, encode_json(name, quads).encode())
    if set_json is not None:
        message.set_json = _json(encode_json("set_json", set_json))
    if delete_json is not None:
        message.delete_json = _json(encode_json("delete_json", delete_json))
    texts = (message.set_nquads, message.del_nquads, message.set_json, message.delete_json)
    return message if any(texts) else None


def mutations(*, mutations: Sequence[dict[str, Any]] | None = None, **first: Any) -> list[Any]:
    """Return the messages of an upsert: its own mutation, and those that came as dicts."""
    messages = [mutation(**first)]
    if mutations is not None and not (
        isinstance(mutations, (list, tuple)) and all(isinstance(it, dict) for it in mutations)
    ):
        raise TypeError(f"mutations is a list of dicts, not {type(mutations).__name__}")
    for given in mutations or ():
        for key in given:
            if key not in _KEYS:
                names = ", ".join(f'"{name}"' for name in _KEYS[:-1])
                raise TypeError(f'a mutation has no key "{key}": it is {names} or "{_KEYS[-1]}"')
        messages.append(mutation(**given))
    return [message for message in messages if message is not None]


def _json(text: str) -> bytes:
    """Return the text, or nothing for a list without objects, which a cluster refuses."""
    return b"" if text.replace(" ", "") == "[]" else text.encode()


def json_of(value: Any) -> bytes:
    """Return a value as the JSON that engines write."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def json_from(text: bytes) -> dict[str, Any]:
    """Return what a JSON object says; nothing for no text."""
    data: dict[str, Any] = json.loads(text) if text else {}
    return data
