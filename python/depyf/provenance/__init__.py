"""Links lines of source to the kernels that they were compiled to, and back.

`collect` defines the data that is recorded of one compilation: nodes of its graphs, operations of Inductor's IR, output
code. The C++ core (`src/links`) computes the links from the recorded data and states in the user's terms what was fused
and what was not; `dumped` writes the links into the files of a dump, and `annotate` removes them from a text.
"""
