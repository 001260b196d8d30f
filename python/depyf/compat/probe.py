"""Checks whether the installed PyTorch and Python have the private names that depyf needs."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from collections.abc import Collection
from typing import Any

from depyf.compat import private, releases, shape
from depyf.compat.names import FEATURES, NAMES, Feature, Name
from depyf.compat.releases import Release
from depyf.session import FeatureState

WORKS, FALLBACK, MISSING = "works", "works with a fallback", "not available"


def _needs(feature: Feature) -> str:
    return f"needs PyTorch {feature.since} or later" + (f"; {feature.before}" if feature.before else "")


def features(right: Collection[str] = ()) -> list[FeatureState]:
    """Returns the state of each of depyf's features, judged by the private names that the feature needs and by the
    failures in this process.

    The private names in Inductor are checked only if Inductor is loaded. A call of `features` takes two milliseconds.

    Args:
        right: the paths of names that were just checked and are as expected.
    """
    version = releases.installed()
    if version is None:
        without = "PyTorch is not installed"
        return [
            FeatureState(feature.key, feature.title, MISSING, [without])
            if feature.needs_torch
            else FeatureState(feature.key, feature.title, WORKS)
            for feature in FEATURES
        ]
    global _last
    if not right:
        return [_feature(feature, Release.of(version), right) for feature in FEATURES]
    # The result depends only on the items of `depends_on`, which have usually not changed since the end of the previous
    # `prepare_debug` block.
    loaded = tuple(module in sys.modules for module in _MODULES)
    depends_on = (version, loaded, frozenset(right), dict(private.losses))
    if _last is None or _last[0] != depends_on:
        release = Release.of(version)
        _last = depends_on, [_feature(feature, release, right) for feature in FEATURES]
    return _last[1]


_MODULES = tuple(dict.fromkeys(name.module for name in NAMES if name.module))
_last: tuple[tuple[Any, ...], list[FeatureState]] | None = None
"""The inputs of the last call of `features`, and its result. `_last` has no lock: threads may set it at once, and
either value is right. The next call of `features` replaces the value, and nothing clears `_last`; a forked child
continues with its copy."""


def _feature(feature: Feature, release: Release, right: Collection[str]) -> FeatureState:
    state = FeatureState(feature.key, feature.title, WORKS)
    too_old = release < Release.of(feature.since)
    if too_old and feature.needs_torch:
        return FeatureState(feature.key, feature.title, MISSING, [_needs(feature)])
    for name in NAMES:
        if name.feature != feature.key or name.path in right:
            continue
        expected = name.expected(release)
        how = private.losses.get(name.path)
        if how is None:
            how = shape.problem(name)
        if how is None or (not expected and name.until and Release.of(name.until) < release):
            continue  # Another name replaces this one in later releases.
        state.expected = state.expected and not expected
        if name.fallback:
            state.status = FALLBACK if state.status == WORKS else state.status
            state.why.append(f"{name.path} {how}: {name.fallback}")
        elif expected:
            state.status = MISSING
            state.why.append(f"{name.path} {how}: {feature.lost}")
    return state


def load() -> None:
    """Imports all modules that contain private names, so that all names can be checked."""
    for module in dict.fromkeys(name.module for name in NAMES if name.module):
        with contextlib.suppress(Exception):  # A failed import is reported together with the names of the module.
            importlib.import_module(module)


_right: set[str] = set()
"""The paths of names in loaded modules that were as expected when `tell_losses` checked them in this process. A private
name that changes later is detected when it is used. Nothing clears `_right`. `_right` has no lock, as each write adds
one path; a forked child continues with its copy."""


def tell_losses() -> set[str]:
    """Warns once about each private name that is not as expected in the installed release of PyTorch. Returns the paths
    of the names that are as expected."""
    right: set[str] = set()
    version = releases.installed()
    if version is None:
        return right
    for name in _expected(Release.of(version)):
        if name.path in private.losses or name.path in _right:
            continue
        how = shape.problem(name)
        if how is None:
            right.add(name.path)
            if name.module in sys.modules:
                _right.add(name.path)
            continue
        # The user is warned about only one lost member of an object; `depyf doctor` reports all lost members.
        owner = name.path.rpartition(".")[0]
        if any(path.rpartition(".")[0] == owner != "" or path == owner for path in private.losses):
            private.losses[name.path] = how
        else:
            private.lost(name, how)
    return right | (_right - private.losses.keys())


@functools.cache
def _expected(release: Release) -> tuple[Name, ...]:
    """Returns the private names that a release of PyTorch should have."""
    return tuple(name for name in NAMES if name.expected(release))
