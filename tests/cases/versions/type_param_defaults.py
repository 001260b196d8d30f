# depyf-case: versions 3.13-
class C[T: "Forward" = "Default", *Ts = *tuple["Default", T], **P = [int]]:
    class D[U = T](T, metaclass=P[__private]):
        pass


type A[T = "Default"] = T
