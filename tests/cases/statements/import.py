import a
import a.b
import a.b.c as d
import a as b
import a.b as c
from a import b
from a import b, c as d
from . import a
from .. import b
from ..a.b import c
from .a import *
