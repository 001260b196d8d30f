def topological(keys):
    for key in keys:
        nodes = [key]
        while nodes:
            for item in nodes[-1]:
                if item in keys:
                    while item != key:
                        nodes.append(item)
                    raise RuntimeError(nodes)
                keys.append(item)
            nodes.pop()
    return keys


def poll(process):
    while True:
        try:
            if process.open():
                break
        except ConnectionError:
            pass
        process.wait(0.1)
    process.terminate()


def within(process):
    with process.environment():
        while True:
            try:
                if process.open():
                    break
            except ConnectionError:
                pass
            assert process.time() < 8, "timed out"
        process.terminate()


def infer(nodes, caches):
    for node in nodes:
        try:
            for inferred in node.infer():
                if inferred in caches:
                    try:
                        size = inferred.size()
                    except LookupError:
                        size = node.size()
                    if size:
                        break
                    caches.append(node)
                    break
        except ValueError:
            pass
    return caches


def iterate(generator):
    found = []
    while True:
        item = generator.start()
        try:
            while True:
                try:
                    item.step()
                except StopIteration as ex:
                    if ex.args:
                        found.append(ex.args[0])
                        break
                    found.append("empty")
                    break
                except ValueError as ex:
                    found.append(str(ex))
                    break
        except KeyError:
            found.append("stop")
            break
    return found
