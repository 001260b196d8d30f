# depyf-case: versions 3.11-
def on_several_lines(a, b, c):
    try:
        a()
    finally:
        if a() or (
            b is not None
            and c
        ):
            b()
