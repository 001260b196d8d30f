# depyf-case: versions 3.8-3.11
def text():
    f"no docstring"
