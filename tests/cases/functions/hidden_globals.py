def reads_the_global(w):
    def inner():
        global w
        return w

    return inner, w


def of_unpacking():
    r, w = pipe()

    def script():
        global w
        with open(w) as out:
            print(out)

    return script, r, w


def within_a_lambda(w):
    def inner():
        global w
        return lambda: w, [w for _ in range(3)]

    return inner


def in_a_class(w):
    class Inner:
        global w
        value = w

        def method(self):
            global w
            return w

    return Inner, lambda: w


class Reads:
    global setting
    value = setting


def behind_a_comprehension(self):
    self.a = [(w, v) for w in self.b]

    def inner():
        return w.c

    return inner


def of_a_variable_and_a_comprehension(self, v):
    self.a = [w for w in self.b]

    def inner():
        global v
        return v, w

    return inner
