def f(a):
    try:
        x(1)
    finally:
        x(2)
    try:
        x(1)
    except ValueError:
        x(2)
    finally:
        x(3)
    try:
        x(1)
    except ValueError:
        x(2)
    else:
        x(3)
    finally:
        x(4)
    try:
        return a
    finally:
        x(5)
