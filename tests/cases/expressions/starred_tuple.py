def colour(self):
    return text(*(self.red, self.green, self.blue))


def keywords(self, more):
    return text(self.red, self.green, **more)


print(*("a", "b"))
