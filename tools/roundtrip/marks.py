"""Finds the definitions of a decompiled text that carry a mark, `# depyf: not equal: what`. It runs inside the
interpreter under test.

A mark applies to the definition whose body holds it. It does not apply to the code around that definition, or to other
definitions in it. Marks of the module as a whole apply to everything in it.
"""

import ast

MARK = b"# depyf: not equal: "
OF_WHOLE_MODULE = MARK + b"pytest rewrote"
MODULE = (1, "<module>")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def key_of(definition):
    """Returns the first line, which may be that of a decorator, and the name, as the code object has them."""
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
            # Among the definitions around a line, the innermost one starts last.
            self.marked.add(key_of(max(around, key=lambda node: node.lineno)) if around else MODULE)

    def owner(self, code, around):
        """Returns the definition that `code` belongs to: its own, or that of the code around it."""
        key = (code.co_firstlineno, code.co_name)
        return key if key in self.definitions else around

    def covers(self, definition):
        return self.covers_all or definition in self.marked
