def checks_pairs(pairs, graph):
    for u, v in pairs:
        if v in graph[u]:
            assert distance(u, v) <= 1


def one_test(lock):
    assert lock is not None and not lock.locked()


def with_message(lock):
    if lock is not None:
        assert not lock.locked(), "still locked"
    release()
