# depyf-case: versions -3.9
def condition_at_the_end(self, name, args):
    return (self.active
            and (self.name is None or self.name == name)
            and (self.active(args)
                 if callable(self.active)
                 else self.active))


def condition_in_an_or(self, name):
    return (self.active
            or (name.first
                if name
                else self.last))
