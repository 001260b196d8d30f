def f(a):
    try:
        try:
            x(1)
        except ValueError:
            x(2)
    except TypeError:
        x(3)
    try:
        x(4)
    except ValueError:
        try:
            x(5)
        finally:
            x(6)
    try:
        with a:
            x(7)
    finally:
        x(8)
