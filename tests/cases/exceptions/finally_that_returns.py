def several_ends(self):
    r = "..."
    try:
        if self.expr is not None:
            r = str(self.expr)
        else:
            r = "None"
    finally:
        return f"{type(self).__name__}: {r}"


def return_within(self, x):
    try:
        if x:
            return self()
    finally:
        return x


def handled(self, x):
    try:
        self()
    except E:
        x()
    finally:
        return x
