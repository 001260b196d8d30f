"""Pairs of function bodies with the same effects. In pairs of `LONGER`, the second body keeps a value alive at a call,
a loop or a yield where the first has released it; in pairs of `NO_LONGER`, it only seems to do so.

Each text is the body of `def f(a, b, c, g, h, E):`; all other names are global.
"""

from __future__ import annotations

Pairs = dict[str, tuple[str, str]]

LONGER: Pairs = {
    "a local behind its last use": ("g(h(a))\nb()", "x = h(a)\ng(x)\nb()"),
    "an argument that the call is given": ("return g(h(a))", "x = h(a)\nreturn g(x)"),
    "no del": ("x = h(a)\ng(x)\ndel x\nb()", "x = h(a)\ng(x)\nb()"),
    "a later del": ("x = h(a)\ng(x)\ndel x\nb()", "x = h(a)\ng(x)\nb()\ndel x"),
    "no None": ("x = h(a)\ng(x)\nx = None\nb()", "x = h(a)\ng(x)\nb()"),
    "two names": ("x = h(a)\nx = g(x)\nb()\nreturn x", "x = h(a)\ny = g(x)\nb()\nreturn y"),
    "a second name": ("x = h(a)\ng(x)\ndel x\nb()", "y = x = h(a)\ng(x)\ndel x\nb()"),
    "an argument that is deleted": ("g(a)\ndel a\nb()", "g(a)\nb()"),
    "an argument that is rebound": ("a = g(a)\nb()\nreturn a", "x = g(a)\nb()\nreturn x"),
    "in a list": ("g(h(a))\nb()", "x = [h(a)]\ng(x[0])\nb()"),
    "in a tuple": ("g(h(a))\nb()", "x = (h(a), 1)\ng(x[0])\nb()"),
    "in a dict": ("g(h(a))\nb()", "x = {'k': h(a)}\ng(x['k'])\nb()"),
    "in a list within a tuple": ("g(h(a))\nb()", "x = ([h(a)], 1)\ng(x[0][0])\nb()"),
    "in a slice": (
        "x = h(a)\ny = [x, b]\ndel x\ny = y[1:]\ng()\nreturn y[0]",
        "x = h(a)\ny = [x, b]\ndel x\nz = y[1:]\ng()\nreturn z[0]",
    ),
    "a list that is passed on": ("g([h(a)])\nb()", "x = h(a)\ng([x])\nb()"),
    "a list that keeps its name": ("g([h(a)])\nb()", "x = [h(a)]\ng(x)\nb()"),
    "in a cell": (
        "x = h(a)\ndef k():\n    return x\ng(x)\nx = None\nk = None\nb()",
        "x = h(a)\ndef k():\n    return x\ng(x)\nk = None\nb()",
    ),
    "in a default": ("def k(x=h(a)):\n    return x\ndel k\nb()", "def k(x=h(a)):\n    return x\nb()"),
    "on one way": (
        "x = h(a)\nif c:\n    del x\n    g()\n    return 1\nreturn x",
        "x = h(a)\nif c:\n    g()\n    return 1\nreturn x",
    ),
    "a test": ("if h(a):\n    return g()\nreturn b()", "x = h(a)\nif x:\n    return g()\nreturn b()"),
    "a test that fails": (
        "x = h(a)\nif x:\n    del x\n    return g()\ndel x\nreturn b()",
        "x = h(a)\nif x:\n    del x\n    return g()\nreturn b()",
    ),
    "in a loop": (
        "for i in a:\n    x = g(i)\n    h(x)\n    del x\n    b()",
        "for i in a:\n    x = g(i)\n    h(x)\n    b()",
    ),
    "into the next round": ("for i in a:\n    h(g(i))", "for i in a:\n    x = g(i)\n    h(x)"),
    "behind a loop": ("for i in a:\n    g(i)\ni = None\nb()", "for i in a:\n    g(i)\nb()"),
    "what is iterated over": ("for i in g(a):\n    b(i)", "x = g(a)\nfor i in x:\n    b(i)"),
    "over a yield": ("x = h(a)\ng(x)\ndel x\nyield b", "x = h(a)\ng(x)\nyield b"),
    "what is yielded": ("yield h(a)\ng()", "x = h(a)\nyield x\ng()"),
    "over an attribute": ("h(g(a))\nreturn b.c", "x = g(a)\nh(x)\nreturn b.c"),
    "over an operator": ("h(g(a))\nreturn b + c", "x = g(a)\nh(x)\nreturn b + c"),
    "over a test": ("h(g(a))\nif b:\n    return 1\nreturn 2", "x = g(a)\nh(x)\nif b:\n    return 1\nreturn 2"),
    "over an item": ("h(g(a))\nreturn b[c]", "x = g(a)\nh(x)\nreturn b[c]"),
    "over with": ("h(g(a))\nwith b:\n    c()", "x = g(a)\nh(x)\nwith b:\n    c()"),
    "in with": ("with b:\n    h(g(a))\nc()", "with b:\n    x = g(a)\n    h(x)\nc()"),
    "the manager": ("with g(a) as x:\n    h()\nx = None\nb()", "with g(a) as x:\n    h()\nb()"),
    "in a handler": (
        "try:\n    h(g(a))\nexcept E:\n    b()\nreturn 1",
        "try:\n    x = g(a)\n    h(x)\nexcept E:\n    b()\nreturn 1",
    ),
    "behind a handler": (
        "try:\n    x = g(a)\n    h(x)\nexcept E:\n    pass\nx = None\nb()",
        "try:\n    x = g(a)\n    h(x)\nexcept E:\n    pass\nb()",
    ),
    "a method": ("g(a).h()\nb()", "x = g(a)\nx.h()\nb()"),
    "a bound method": ("a.h(b)\nc()", "x = a.h\nx(b)\nc()"),
    "a text": ("h(f'{a}{b}')\nc()", "x = f'{a}{b}'\nh(x)\nc()"),
    "what a global was": ("g(COUNT)\nb()", "x = COUNT\ng(x)\nb()"),
    "in inner code": (
        "def k(y):\n    z = y + 1\n    print(z)\n    del z\n    print()\nreturn k",
        "def k(y):\n    z = y + 1\n    print(z)\n    print()\nreturn k",
    ),
    "of unpacking": ("x, y = g(a)\nh(x)\ndel x\nb()\nreturn y", "x, y = g(a)\nh(x)\nb()\nreturn y"),
    "of a slice assignment": ("x = [h(a)]\nx[:] = [b]\ng()\nreturn x", "y = h(a)\nx = [y]\nx[:] = [b]\ng()\nreturn x"),
}

NO_LONGER: Pairs = {
    "a name for what is returned": ("return g(h(a))", "x = g(h(a))\nreturn x"),
    "held as long": ("x = h(a)\nb()\nreturn x", "y = h(a)\nb()\nreturn y"),
    "let go": ("x = h(a)\ng(x)\nb()", "x = h(a)\ng(x)\nx = None\nb()"),
    "a del": ("x = h(a)\ng(x)\nb()", "x = h(a)\ng(x)\ndel x\nb()"),
    "handed over": ("x = h(a)\ng(x)\nb()", "g(h(a))\nb()"),
    "an argument": ("g(a)\nb()", "x = a\ng(x)\nb()"),
    "a constant": ("g(1)\nb()", "x = 1\ng(x)\nb()"),
    "a truth": ("x = a is b\ng()\nreturn x", "x = a is b\ny = x\ng()\nreturn y"),
    "a truth that the first drops": ("h(a is b)\ng()", "x = a is b\nh(x)\ng()"),
    "in a container of the frame's": ("x = h(a)\nb()\nreturn x", "x = [h(a)]\nb()\nreturn x[0]"),
    "out of a container": ("x = [h(a), 1]\nb()\nreturn x[0]", "x = h(a)\nb()\nreturn x"),
    "in a list of one": ("x = h(a)\nb()", "x = [h(a)]\nb()"),
    "a copy of a display": ("x = [h(a)]\nb()\nreturn x[0]", "y = h(a)\nx = [y]\nb()\nreturn x[0]"),
    "a loop variable": ("for i in a:\n    b(i)", "for j in a:\n    b(j)"),
    "a handler that raises": ("try:\n    g(h(a))\nfinally:\n    b()", "try:\n    g(h(a))\nfinally:\n    b()"),
    "a way that ends": ("if c:\n    return g(h(a))\nb()", "if c:\n    x = g(h(a))\n    return x\nb()"),
    "swap": ("a, b = b, a\ng()\nreturn a", "x = a\na = b\nb = x\ndel x\ng()\nreturn a"),
}
