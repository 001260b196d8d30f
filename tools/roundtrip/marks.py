"""Finds the definitions of a decompiled text that carry a mark, `# depyf: not equal: what`. This module runs inside the
interpreter under test.

A mark applies to the innermost definition that contains it, but not to the code around that definition or to other
definitions in it. A mark of the whole module (`pytest rewrote`) applies to everything in the module.
"""

import ast

MARK = b"# depyf: not equal: "
OF_WHOLE_MODULE = MARK + b"pytest rewrote"
MODULE = (1, "<module>")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def key_of(definition):
    """Returns (the first line of a definition or of its decorators, its name), which are co_firstlineno and co_name of
    its code object."""
    return min([definition.lineno] + [each.lineno for each in definition.decorator_list]), definition.name


class Marks:
    """The marked definitions of a text, identified by their `key_of`."""

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
        """Returns the key of the definition of `code`, or `around` if `code` has no definition of its own (a lambda or
        a comprehension)."""
        key = (code.co_firstlineno, code.co_name)
        return key if key in self.definitions else around

    def covers(self, definition):
        return self.covers_all or definition in self.marked
