def waits_for_a_signal():
    try:
        while True:
            pass
    except KeyboardInterrupt:
        stop()


def cleans_up():
    try:
        while True:
            pass
    finally:
        stop()


def ends_in_a_loop(a):
    try:
        a()
        while True:
            pass
    except KeyboardInterrupt:
        stop()


try:
    while True:
        pass
except KeyboardInterrupt:
    stop()
with a:
    try:
        while True:
            pass
    except KeyboardInterrupt:
        pass
