"""Links lines of source to the kernels that they were compiled to, and kernels to lines of source.

`collect` defines the data that is recorded of one compilation: nodes of its graphs, operations of Inductor's IR, and
output code. The C++ core (`src/links`) computes the links from the recorded data, and states in the user's terms which
operations were fused and which were not. `dumped` writes the links between lines and kernels into the files of a dump
as comments, and `annotate` removes such comments from a text.
"""
