# depyf-case: versions 3.9-
def swapped(self):
    self[:], result = [], self[:]
    return result


def behind(self):
    result, self[1:2] = [], self[:]
    self.x, self[1:2] = [], f()
    self[1:2], self[2:4], c = [], f(), g()
    return result + c
