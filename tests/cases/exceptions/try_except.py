def f(a):
    try:
        x(1)
    except:
        x(2)
    try:
        x(1)
    except ValueError:
        x(2)
    try:
        x(1)
    except ValueError as e:
        x(e)
    try:
        x(1)
    except (ValueError, TypeError):
        x(2)
    except KeyError as e:
        x(3)
    except Exception:
        raise
    else:
        x(4)
    x(5)
