def equal_ends_of_handler_and_body(self, module):
    with a(), b():
        ms = None
        try:
            call()
        except Exception as e:
            ms = 1
            return ms, module.f
        if q:
            ms = 2
        else:
            ms = 3
        store()
        return ms, module.f


def equal_ends_of_branches(module):
    with a():
        if module:
            ms = 1
            return ms, module.f
        ms = 2
        return ms, module.f


def equal_ends_of_local(module):
    with a():
        try:
            call()
        except Exception:
            ms = 1
            return ms + 1
        ms = 2
        return ms + 1
