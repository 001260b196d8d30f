# depyf-case: versions 3.11-
def f(a):
    try:
        x(1)
    except* ValueError:
        x(2)
    except* (TypeError, KeyError) as e:
        x(e)
    else:
        x(3)
