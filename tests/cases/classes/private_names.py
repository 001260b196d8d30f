class C:
    __x = 1

    def __m(self, __a):
        self.__y = __a
        return self.__m(self.__x)

    def f(self):
        from a import __b
        return __b.__c__
