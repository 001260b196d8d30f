# depyf-case: versions 3.14-
def parse(words, i):
    try:
        while i < len(words):
            if not words[i]:
                x = 1
                if x in words:
                    i += 2
                else:
                    return None
                if words.done:
                    break
            else:
                break
    except (IndexError, ValueError):
        return None
    return i
