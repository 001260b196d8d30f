def in_a_loop():
    for x in a:
        try:
            b
        finally:
            c
            return d


def in_with():
    with a:
        try:
            b
        finally:
            c
            return d


def over_a_return_in_with():
    try:
        with a:
            return b
    finally:
        return c


def over_a_return_in_a_loop():
    try:
        for x in a:
            return b
    finally:
        try:
            c
        finally:
            return d


def with_in_the_clause():
    try:
        a
    finally:
        with b:
            return c


def behind_with():
    try:
        a
    finally:
        with b:
            pass
        return


def that_raises():
    if a:
        try:
            c
        except E:
            return d
        finally:
            raise F


def that_never_ends():
    try:
        a
    except E as e:
        return b
    finally:
        while True:
            c
