# depyf-case: versions 3.14-
def mixed(lines, x):
    for line in lines:
        if line in x:
            f()
        elif line in lines and not x in line:
            g()
        else:
            h()
        i()
