# depyf-case: versions -3.10
def described(pattern, value):
    expression = pattern.compile("# A numeric string consists of:\n"
                                 "(?P<sign>[-+])?  # an optional sign, followed by either\n"
                                 "(?=\\d|\\.\\d)      # a number with at least one digit\n",
                                 pattern.VERBOSE)
    raise ValueError("the text of this message is longer than a line has room for, so that it "
                     "is printed as several strings of which each ends behind a word %s"
                     % value)
