# depyf-case: versions 3.14-
def f(x, w):
    a = t""
    b = t"a"
    c = t"a{x}b{w}"
    d = t"{x!r}{x!s:>5}{x:{w}}"
    return t"{x + w}", t"{{{f(x)}}}"
