"""From a line of source to the kernels that it became, and back.

`collect` holds what is seen of one compilation on its way: nodes of its graphs, operations of Inductor's IR, output code.
`chain` links them, `fusion` says in the user's terms what was fused and what was not, `annotate` writes the links into
the files.
"""
