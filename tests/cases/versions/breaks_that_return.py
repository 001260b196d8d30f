# depyf-case: versions 3.12-
def search():
    while True:
        if a:
            while b:
                if c:
                    break
                if d:
                    e()
                    break
            else:
                continue
        break
