def announce(ports, server):
    for port in ports:
        try:
            listen(port)
        except OSError as e:
            if e.errno != 5:
                raise
        else:
            server.port = port
            break
    else:
        raise SystemExit("no")
    server.initialized = True
