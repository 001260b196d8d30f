# depyf-case: not yet
while True:
    if x:
        break
for i in a:
    x(i)
else:
    x(2)
