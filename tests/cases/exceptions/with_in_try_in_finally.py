def handle(job, lock, send):
    try:
        job()
    finally:
        send(1)
        try:
            with lock:
                if job:
                    send(2)
        except ValueError:
            send(3)
    send(4)
