# depyf-case: versions 3.15-
lazy import a
lazy import a.b
lazy import a.b as c
import d
lazy from e import f, g as h
lazy from . import i
lazy from ..j import k
from l import m
try:
    import n
except ImportError:
    n = None
