# depyf-case: versions 3.8-3.10
a(*())
