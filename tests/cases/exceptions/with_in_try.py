# depyf-case: versions 3.11-
def is_archive(filename):
    result = False
    try:
        if hasattr(filename, "read"):
            result = check(fp=filename)
        else:
            with open(filename, "rb") as fp:
                result = check(fp)
    except OSError:
        pass
    return result


def compare(f1, f2):
    size = SIZE
    with open(f1, "rb") as fp1, open(f2, "rb") as fp2:
        while True:
            b1 = fp1.read(size)
            b2 = fp2.read(size)
            if b1 != b2:
                return False
            if not b1:
                return True
