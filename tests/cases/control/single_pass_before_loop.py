while True:
    if a:
        try:
            b
        finally:
            c
            break
    break
while d:
    pass
