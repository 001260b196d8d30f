# depyf-case: versions 3.13-3.14
def f(cm, nodes):
    with cm:
        for node in nodes:
            if node.a:
                if node.b not in nodes or node.c != 1:
                    continue
                g(node)
        for node in nodes:
            if node.a and not node.b and not node.c:
                g(node)
        for node in nodes:
            if not node.a or node.b:
                continue
            g(node)
            h(node)
