def consume(self, everything):
    with self.lock:
        while self.size > 10 or everything and not self.empty():
            self.take()
            self.send()
