# depyf-case: versions 3.11-
def f(a):
    return f(
        b=1,
        c=1,
        d=1,
        e=1,
        g=1,
        h=1,
        i=1,
        j=1,
        k=1,
        l=1,
        m=1,
        n=1,
        o=1,
        p=1,
        q=a if a else None,
        r=f(a) if a else None,
    )
