# depyf-case: versions 3.11-
def return_behind_try(name):
    try:
        lookup(name)
    except LookupError:
        return False
    return True


def else_of_loop(edges, wanted):
    for edge in edges:
        if edge in wanted:
            return edge
    else:
        return None


def break_passes_else_by(edges, wanted):
    for edge in edges:
        if edge in wanted:
            break
    else:
        raise KeyError(wanted)


def only_way_on(platform):
    if platform == "windows":
        library = load(platform)
    else:
        raise ImportError(platform)
    library.start()
    return library


def one_condition(node, size):
    if (
        node.children[1].type == size
        and node.children[1].children[0].value == size
    ):
        if accepts(node):
            wrap(node)
        close(node)


def two_conditions(node):
    if node.first:
        if node.second:
            wrap(node)


def deletes_in_else(names, name):
    if name:
        return names[name]
    else:
        del names[name]
    return names
