"""Which definitions of a decompiled text carry a mark, `# depyf: not equal: what`; runs inside the interpreter under test.

A mark speaks of the definition whose body holds it: what is around that definition, and other definitions in it, are not
marked by it. Marks that speak of the module as a whole cover all of it.
"""

import ast

MARK = b"# depyf: not equal: "
OF_WHOLE_MODULE = MARK + b"pytest rewrote"
MODULE = (1, "<module>")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def key_of(definition):
    """The first line, that of a decorator included, and the name: as the code object has them."""
    return min([definition.lineno] + [each.lineno for each in definition.decorator_list]), definition.name


class Marks:
    """The definitions of a text that are marked, as `key_of` returns them."""

    def __init__(self, text):
        lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(MARK)]
        self.covers_all = any(line.startswith(OF_WHOLE_MODULE) for line in text.splitlines())
        self.definitions = {MODULE}
        self.marked = set()
        if not lines:
            return
        found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, DEFINITIONS)]
        self.definitions.update(key_of(node) for node in found)
        for line in lines:
            around = [node for node in found if key_of(node)[0] <= line <= node.end_lineno]
            # Of the definitions that hold a line, the innermost starts last.
            self.marked.add(key_of(max(around, key=lambda node: node.lineno)) if around else MODULE)

    def owner(self, code, around):
        """The definition that `code` belongs to: its own, or that of the code around it."""
        key = (code.co_firstlineno, code.co_name)
        return key if key in self.definitions else around

    def covers(self, definition):
        return self.covers_all or definition in self.marked
