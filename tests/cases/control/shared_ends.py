def one_return_behind_branches(self, key):
    if key == "a":
        self.move(0)
    elif key in ("b", "c"):
        if self.x > 0:
            self.move(self.x - 1)
        elif self.y > 0:
            self.move(self.y)
        if key == "b":
            self.delete()
    elif key == "d":
        return 0
    return 1


def one_raise_behind_branches(self, key):
    if key:
        self.write(key)
        self.count += 1
    else:
        self.write(self.mark)
    raise KeyError


def two_statements(self, key):
    if key:
        self.write(key)
    else:
        self.write(self.mark)
    self.x = key
    return key
