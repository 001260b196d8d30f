for i in range(10):
    if i == 5:
        break
    print(i)
else:
    print("else")
while not x:
    pass
print("end")
