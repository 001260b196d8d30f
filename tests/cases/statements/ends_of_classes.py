class Socket:
    def bind(self):
        return super().bind()

    if platform == "linux" or not checking and hasattr(socket, "share"):
        def share(self):
            pass
