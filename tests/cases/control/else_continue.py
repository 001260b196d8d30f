def rest_after_inner(files, names):
    packages = {}
    for file in files:
        file = file.lower()
        for name in names:
            if file.startswith(name):
                break
        else:
            continue
        packages[name] = file
        packages.update(name)
    return packages


def break_after_inner(path):
    for entry in path:
        for name in entry:
            if found(name):
                break
            if ready(name):
                return name
        else:
            continue
        break
    else:
        raise ImportError(path)
    encoding = None
    return encoding


def assertion_at_the_end(registry):
    while True:
        pending = select(registry)
        if not pending:
            return
        f = pending.pop()
        f()
        assert f not in registry
