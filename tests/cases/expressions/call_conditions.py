def argtern(cls, m, device, meta):
    return cls(m if device is None else m.to(device), meta)


def argtern2(cls, m, device, meta):
    x = cls(m if device is None else m.to(device), meta)
    return x


def c1(a, b, c):
    f(a, b if c else d, e)


def c2(a, b, c):
    x = f(a, g(b) if c else d, e=e)
    return x


def c3(a, b, c):
    return f(a, b or c, k=a and c)


def c4(a, b, c):
    return f(a, *[x for x in b], **{k: v for k, v in c})


def c5(self, a, b):
    return self.f(a if b else None, g(a) or h(b), [a, b if a else c])


def c7(self, a, b):
    return self.x[a if b else c].f(a)[b or c]


def c8(self, a, b):
    self.x[a if b else c] += 1
    self.y.z = a or b
    self.y.z += a if b else c


def c9(self, a):
    return self.f(v=a["v"] if "v" in a else None, s=[f(i) for i in a["s"]] if "s" in a else None)
