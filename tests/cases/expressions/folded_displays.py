# depyf-case: versions 3.11-
def edges(graph):
    graph.add(
        [
            ("s", "u", 10),
            ("s", "x", 5),
            ("u", "v", 1),
            ("u", "x", 2),
        ]
    )
    assert sorted(graph) == [
        ("A", 2),
        ("B", 3),
        ("C", 3),
    ]
    return {
        ("one", "one"): graph.first,
        ("one", "two"): graph.second,
    }


def sets(value):
    return value in {-1, 2, 4, 13, 16, 100, "a", "b"}


def lines_of_text():
    message = (
        "'{0.status_code} {0.reason_phrase}' for url '{0.url}'\n"
        "Redirect location: '{0.headers[location]}'\n"
        "For more information: https://developer.mozilla.org/"
    )
    return message
