def until_done(lock):
    while True:
        with lock:
            if lock.done:
                break
    return lock.result


def returns_within(lock):
    while True:
        with lock:
            if lock.failed:
                return lock.error
            wait()
            if lock.done:
                break
        wait()
    report(lock)
    return lock.result
