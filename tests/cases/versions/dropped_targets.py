def rpartition(names):
    for name in names:
        package, _, _ = name.rpartition(".")
    return package


def first(name):
    package, _, _ = name.rpartition(".")
    return package
