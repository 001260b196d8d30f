# depyf-case: versions -3.13
def frames(lines, last):
    found = []
    while not next(lines) == "":
        vectors = 0
        while True:
            line = next(lines)
            if line.startswith("VEC"):
                vectors += 1
                if vectors > 3:
                    raise ValueError("too many vectors")
            else:
                lines.seek(-1)
                break
        found.append(vectors)
        if last is not None and len(found) > last:
            break
    return found
