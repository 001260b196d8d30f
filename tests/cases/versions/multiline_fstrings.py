# depyf-case: versions 3.12-
def f(name, value):
    print(
        f"""
        The {name} has {{braces}} and
        a "value" of {value!r:>10}
    """
    )
    text = f"""Head of {name}
and more"""
    raise ValueError(
        f"first {name}\n"
        f"second {value}"
    )
