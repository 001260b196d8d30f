"""Is what a text was made of still the same?"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import is_
from typing import Any


@dataclass
class State:
    """What a text is made of. What can be another object is compared by identity, what is made anew by value."""

    objects: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def is_still(self, other: State) -> bool:
        """Is all of it as it was?"""
        return (
            len(self.objects) == len(other.objects)
            and all(map(is_, self.objects, other.objects))
            and self.values == other.values
        )
