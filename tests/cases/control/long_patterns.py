# depyf-case: versions 3.10-
def f(node):
    match node:
        case (
            first_module.Declaration()
            | first_module.Assignment()
            | first_module.Comparison()
            | first_module.Function()
        ):
            return 1
        case Function(
            name="a_rather_long_name",
            parameters=[first, second, *others],
            returns=first_module.Declaration(type=Type()),
        ):
            return 2
        case {
            "declarations": [first_declaration, *other_declarations],
            "assignments": [assignment],
            **others,
        }:
            return 3
        case [
            first_module.Declaration(),
            first_module.Assignment(),
            first_module.Comparison(),
            *others,
        ]:
            return 4
        case A() | B() | C():
            return 5
