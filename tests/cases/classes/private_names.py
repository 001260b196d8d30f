class C:
    __x = 1

    def __m(self, __a):
        self.__y = __a
        return self.__m(self.__x)

    def f(self):
        from a import __b
        return __b.__c__

    def g(self):
        from a import __b as c, d as __e, _C__f
        import __g, __h as i, __j.k, __l.__m as n
        return c, __e, __f, __g, i, __j, n

    from a import __o
    import __p.__q
