def ret_pair(cm, x):
    with cm:
        y, x = g(x)
    return y, x


def fwd(self, x, h):
    with torch.no_grad():
        y = self.a(x)
        h = self.b(h)
    return y, h


def fwd2(self, x):
    with torch.no_grad():
        y = self.a(x)
    return self.c(y, x)


def fwd3(self, x):
    with torch.no_grad():
        y = self.a(x)
    return x, y


def fwd7(x, lock):
    with lock:
        y = x
    return y + x


def w1(a, b, x):
    for i in x:
        with a:
            with b:
                if i:
                    continue
                f(i)
            g(i)
        h(i)


def w3(a, b, x):
    for i in x:
        with a:
            with b:
                if i:
                    break
            if i.z:
                return i
    else:
        return 3
    return x


def w4(a, b, x):
    with a:
        with b:
            if x:
                return 1
        return 2
    return 3
