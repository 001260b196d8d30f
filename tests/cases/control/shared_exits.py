def after_branches(backlog, sock):
    if backlog is None:
        sock.listen()
    else:
        sock.listen(backlog)
    return sock


def after_loop(x, y):
    for k, j in zip(x, y):
        if k is not j:
            y = tuple(y)
            break
    else:
        y = x
    return y


def in_try(backlog, sock):
    try:
        if backlog is None:
            sock.listen()
        else:
            sock.listen(backlog)
        return sock
    except OSError:
        sock.close()
        raise


def part_of_expression(text, padded):
    try:
        return decode(text), [] if padded else [Defect()]
    except ValueError:
        return None


def called(self):
    (self.last if self.flash else self.none)()


def two_values(decoder, position):
    try:
        start = decode(position)
        if start:
            return cookie(start)
        flags = decoder.flags(start)
        return cookie(flags)
    finally:
        decoder.reset()


def after_with(parse):
    if parse == "xml":
        with open(parse, "rb") as file:
            data = load(file)
    else:
        with open(parse, "r") as file:
            data = file.read()
    return data


def in_handler(self, level):
    try:
        return self.cache[level]
    except KeyError:
        acquire()
        try:
            if self.disable >= level:
                enabled = self.cache[level] = False
            else:
                enabled = self.cache[level] = level >= self.effective()
        finally:
            release()
        return enabled


def several_in_with(self, timeout):
    with selector() as s:
        while True:
            if s.select(timeout):
                return self.handle()
            timeout = deadline - time()
            if timeout < 0:
                return self.handle_timeout()
            self.wait()


def chained(mon):
    try:
        mon = months.index(mon)
    except ValueError:
        try:
            number = int(mon)
        except ValueError:
            return None
        if 1 <= number <= 12:
            mon = number
        else:
            return None
    if mon is None:
        mon = 0
    return mon


def raised_after_with():
    try:
        work()
    except:
        with context():
            pass
        raise


def same_test_twice(j):
    if j < 0:
        return j
    while True:
        c = step(j)
        if not c:
            return -1
        j = scan(c)
        if j < 0:
            return j
