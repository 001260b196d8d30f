"""Prints graphs, trees of guards and Inductor's IR exactly as PyTorch prints them, in less time.

PyTorch makes these texts at every compilation under a block, and they are most of what a block costs. `hooks` puts the
printers in front of PyTorch's own functions; `bench/printing.py` measures what that saves. The environment variable
`DEPYF_PRINTING=pytorch` leaves all printing to PyTorch: the files of a dump are the same.
"""
