# depyf-case: versions 3.11-
for i in a:
    if i:
        continue
    x(i)
for i in a:
    try:
        x(1)
    except ValueError:
        continue
    x(2)
