# depyf-case: versions 3.8-3.8
def no_handler_goes_on(self):
    try:
        conn, addr = self.socket.accept()
    except TypeError:
        return None
    except OSError as why:
        if why.args[0] in codes:
            return None
        raise
    else:
        return conn, addr


def nothing_goes_on(self):
    if self.exception:
        try:
            raise self.exception
        finally:
            self = None
    else:
        return self.result


def last_statement(path, key):
    try:
        f = open(path, "rb+")
    except OSError as e:
        if e.errno == ENOENT:
            raise KeyError(key)
        raise
    else:
        f.close()
        remove(path)
