def listed(query):
    return [
        lambda s: (p[s] if s in p else s)
        if i(s)
        else s
        for select in query
    ]


def passed(query):
    return query.transform(
        lambda s: (p[s.name].copy() if s.name in p else s)
        if isinstance(s, q)
        else s, True)
