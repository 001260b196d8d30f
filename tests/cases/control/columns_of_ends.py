# depyf-case: versions 3.11-
def decode(data, index):
    try:
        number = 0
        if number == index:
            while True:
                n = data[index]
                if n >= 128:
                    number += n - 128
                else:
                    number += n
                    break
                index += 7
                if index > 28:
                    message = f"too long: {index}"
                    raise ValueError(message)
    except IndexError as err:
        raise ValueError(data) from err
    return number


def emit(self, var):
    try:
        if not self.satisfied(var):
            self.data[var] = self.gate(var)
            return
        if var == 1:
            value = 1
        else:
            value = 2
        for rule in var.rules:
            if self.matches(value, rule):
                self.exclude(rule)
                print(rule)
    finally:
        self.resolving.discard(var)


def find(self, offset):
    try:
        for token in self.tokens:
            if token in self.kinds:
                try:
                    prefix, comment = token.split()
                except ValueError:
                    continue
                if prefix in self.tags:
                    return [comment]
        return []
    finally:
        self.offset = offset


def run(self):
    try:
        while True:
            item = self.get()
            if item is None:
                return
            result = self.process(item)
            if result.must_stop():
                return
    except KeyboardInterrupt:
        print()
    finally:
        self.stop()
