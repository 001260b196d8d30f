def serve(output):
    with open() as files:
        while True:
            for event in files.select():
                if event:
                    if not event.chunk:
                        return output
                    output.extend(event.chunk)


def collect(keys, empty):
    try:
        for key, nodes in keys.items():
            if not nodes:
                return empty
            for node in nodes:
                if not node:
                    return empty
                print(key, node)
    except ValueError:
        return empty
    return keys


def remove(other, items):
    for one in other:
        for item in items:
            if item is one:
                one.count += 1
                break
        else:
            continue
        items.remove(item)
    return items
