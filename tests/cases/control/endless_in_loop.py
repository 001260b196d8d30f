def continues():
    while True:
        if not a:
            if b:
                name = "default"
            else:
                while True:
                    if c():
                        if d:
                            x()
                        else:
                            y()
                        z()
                        break
                    w()
                continue
        login = name()
