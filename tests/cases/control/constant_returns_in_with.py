# depyf-case: versions 3.11-
def in_while(ws):
    with ws:
        while True:
            data = f()
            if not data:
                continue
            if h(data):
                y(data)
            elif k(data):
                return True


def behind_branches(self):
    with self.lock:
        if self.count > 1:
            return False
        if self.pid is None:
            return True
        close(self.pid)
        self.pid = None
        if self.has_waiters():
            notify(self)
        return True
