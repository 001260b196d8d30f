def f():
    try:
        a
    finally:
        try:
            b
        finally:
            c
        if d() or e() and f():
            g
