def in_while(ws):
    with ws:
        while True:
            data = f()
            if not data:
                continue
            if h(data):
                y(data)
            z(data)


def asserts_in_branches(self, value):
    try:
        if value:
            return False
        for s in self:
            if g(s):
                assert s.search(printed), 1
            else:
                assert s in printed, 2
        return False
    finally:
        self.close()
