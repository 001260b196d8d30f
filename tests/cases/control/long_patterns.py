# depyf-case: versions 3.10-
def f(node):
    match node:
        case (
            a_module_with_a_long_name.Declaration()
            | a_module_with_a_long_name.Assignment()
            | a_module_with_a_long_name.Comparison()
            | a_module_with_a_long_name.Function()
        ):
            return 1
        case Function(
            name="a_rather_long_name",
            parameters=[first, second, *others],
            returns=a_module_with_a_long_name.Declaration(type=Type()),
        ):
            return 2
        case {
            "declarations": [first_declaration, *other_declarations],
            "assignments": [assignment],
            **others,
        }:
            return 3
        case [
            a_module_with_a_long_name.Declaration(),
            a_module_with_a_long_name.Assignment(),
            a_module_with_a_long_name.Comparison(),
            *others,
        ]:
            return 4
        case A() | B() | C():
            return 5
