"""Where the key is while a run lasts. Without Ray Data, whose import would take longer than all this process does."""

from __future__ import annotations

from typing import Any


class KeyKeeper:
    """Holds the key in memory while the run lasts.

    The key is an argument and a result of actor calls of a few bytes, which go from process to process and never
    to the object store. It is no argument of an actor's constructor: those are kept by the cluster for restarts.
    Rows of earlier runs may be many: of these it has only the reference, in a list, so that Ray does not fetch them."""

    def __init__(self) -> None:
        self._held: tuple[dict[str, Any], list[Any]] = ({}, [])

    def put(self, secret: dict[str, Any], earlier: list[Any]) -> None:
        """Takes the key and what else workers need."""
        self._held = (secret, earlier)

    def get(self) -> tuple[dict[str, Any], list[Any]]:
        """Gives them to a worker that starts."""
        return self._held
