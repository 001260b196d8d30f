from __future__ import annotations

import pytest

from interpreters import VERSIONS, interpreter


@pytest.fixture(params=VERSIONS, ids=lambda version: "%d.%d" % version)
def python(request: pytest.FixtureRequest) -> tuple[tuple[int, int], str]:
    """Returns (a version, the path of its interpreter) for each version in turn; skips the test if there is no
    interpreter."""
    path = interpreter(request.param)
    if path is None:
        pytest.skip("no interpreter of this version at hand")
    return request.param, path
