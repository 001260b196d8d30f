# depyf-case: versions -3.8
def delete(self, model):
    try:
        self.flush(model)
    except Exception as ex:
        if not self.handle(ex):
            log(ex)
        return False
    else:
        self.after(model)
    return True


def play(self, utterance):
    try:
        import sound
        try:
            sound.open("w")
        except OSError as e:
            print(e)
        return
    except ImportError:
        pass
    print(utterance)


def accept(self, s):
    try:
        try:
            s = self.wrap(s)
        except Lost as lost:
            log(lost)
            return None
        except Plain as plain:
            log(plain)
            try:
                s.write(plain)
            except OSError as ex:
                if ex.args[0] not in ignored:
                    raise
            return None
        return s
    except Timeout:
        return None


def supports_links():
    with create() as f:
        try:
            link(f)
        except (OSError, AttributeError):
            return False
        return True


def listen(q):
    try:
        serve()
    except Exception as e:
        if q is not None:
            q.put(e)
        return
    except KeyboardInterrupt:
        if q is not None:
            q.put(None)
        return
    finally:
        q.close()


def hook(handle):
    with handle:
        if not handle.grad:
            if handle.uses_views:
                handle.use_views()
            return
        with handle.stream():
            handle.reduce()


def bind(sock):
    for i in count():
        try:
            sock.bind(port(i))
        except OSError as e:
            if e.errno != in_use or i == 5:
                raise
        else:
            break
    return sock


def load(imports):
    for name, urls in imports:
        error = None
        for url in urls:
            try:
                fetch(url)
            except OSError as err:
                if error is None:
                    error = err
            else:
                break
        else:
            if error is not None:
                report(error)
            imports[name] = None


def check(names):
    for name in names:
        try:
            name(1)
        except TypeError:
            try:
                name("x")
            except TypeError:
                pass
            else:
                continue
            raise AssertionError(name)
    return names


def has_descriptor(attributes):
    for attribute in attributes:
        try:
            for inferred in attribute.infer():
                if inferred:
                    try:
                        inferred.get()
                    except KeyError:
                        pass
                    else:
                        return True
        except ValueError:
            return True
    return False


def retry(self):
    while self.active:
        try:
            response = self.send()
            if not self.is_retry(response):
                break
            self.sleep()
            continue
        except OSError as err:
            if self.absolute:
                self.sleep()
                continue
            raise err
        finally:
            self.end()
    return self


def clean_up(name):
    while time() < deadline:
        try:
            find(name)
        except FileNotFoundError:
            break
    else:
        raise AssertionError(name)
    if os.name == "posix":
        print(name)


def asserts(keys):
    for key in keys:
        try:
            where(key)
        except ValueError as e:
            assert "either" in str(e)


def process(node, rule):
    if rule:
        if rule.is_abstract:
            if len(node) > 1:
                try:
                    return process(node.first)
                except StopIteration:
                    return ""
            else:
                return process(node[0])
        elif rule.is_match:
            return node
        print(rule)
    else:
        print(node)
    return rule


def hooks(names, options):
    for name in names:
        try:
            kind = options[name]
        except KeyError as ke:
            raise ValueError(name) from ke
        else:
            with status(name):
                invoke(kind)


def table(items):
    for item in items:
        try:
            found = items[item]
        except UnicodeDecodeError as err:
            err.reason = 1
            raise
        else:
            try:
                found.append(item)
            except KeyError:
                pass
            else:
                print(found)


def connect(self):
    while True:
        try:
            self.pipe = open("pipe")
        except OSError as e:
            if e.errno != 22:
                raise
        else:
            break
        sleep(0.1)


def first_of(formats, name):
    for ending, kind in formats:
        if name.endswith(ending):
            try:
                data = kind(name)
            except EOFError:
                raise ValueError(name)
            else:
                break
    else:
        raise LookupError(name)
    return parse(data)


def namespace(self, obj):
    try:
        found = obj.target
    except AttributeError:
        if self.is_name(obj):
            return obj.namespace
        if not self.is_text(obj):
            return ""
        try:
            return 1
        except ValueError:
            return ""
    else:
        return found if isinstance(found, str) else ""
