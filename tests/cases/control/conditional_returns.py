def style(self):
    if self.binding is not None:
        found = self.binding.get("style")
        return found if found in ("rpc", "document") else "document"
