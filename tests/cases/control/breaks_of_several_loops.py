def dimension(routes, names):
    found = []
    for route in routes:
        for module in reversed(route):
            for name in names:
                if hasattr(module, name):
                    found.append(name)
                    break
            else:
                continue
            break
    return found


def spin(display, queue, thread):
    while True:
        for c in "|/-":
            display.show(c)
            while True:
                try:
                    method, args = queue.get()
                except EOFError:
                    break
                method(*args)
            if getattr(thread, "finish", False):
                display.show("end")
                return


def sizes(draw, count):
    found = []
    assigned = 0
    while True:
        size = int(draw())
        if size < 1:
            continue
        if assigned + size >= count:
            found.append(count - assigned)
            break
        assigned += size
        found.append(size)
    found.sort()
    return tuple(found)


def guarded(condition, first, rest, second):
    if condition:
        try:
            first()
        except ValueError as error:
            print(error)
        finally:
            rest()
    try:
        return second
    except KeyError:
        return None


def drain(queue, send):
    while queue:
        try:
            while True:
                queue.take()
        except EOFError:
            pass
        for text in queue:
            if text:
                break
            send(text)
            return
    send("end")


def split(text, places):
    while not text:
        for place in places:
            for i in place:
                if place.match(text, i):
                    for part in place:
                        print(part)
                    text = i
                    break
            else:
                continue
            break
        else:
            break
    return text
