from __future__ import annotations

import pytest

from interpreters import VERSIONS, interpreter


@pytest.fixture(params=VERSIONS, ids=lambda version: "%d.%d" % version)
def python(request: pytest.FixtureRequest) -> tuple[tuple[int, int], str]:
    """Each version in turn, and an interpreter of it."""
    path = interpreter(request.param)
    if path is None:
        pytest.skip("no interpreter of this version at hand")
    return request.param, path
