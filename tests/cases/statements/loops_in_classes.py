class Provider:
    codes = []
    for first in "AB":
        for second in "23":
            codes.append(first + second)
    codes = tuple(codes)


class Other:
    codes = []
    for first in "AB":
        codes.append(first)
    codes = tuple(codes)
