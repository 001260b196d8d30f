try:
    import a
except ImportError:
    a = None
try:
    b = 1
finally:
    c = 2
