def write(path, results):
    pass
