"""Prints graphs, trees of guards and Inductor's IR exactly as PyTorch prints them, in less time.

PyTorch prints graphs, guards and IR at every compilation in a `prepare_debug` block, and this printing is most of the
cost of a block. `hooks` replaces PyTorch's printing functions by the printers of this package; `bench/printing.py`
measures the time that the replacement saves. The environment variable `DEPYF_PRINTING=pytorch` leaves all printing to
PyTorch, which does not change the files of a dump.
"""
