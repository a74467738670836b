"""Small tree rewrites that turn a page of the site into a chapter of a file.

common.py makes ids unique in the whole file and resolves links; print.py and epub.py hold what each
medium needs. A rewrite is a function `(tree, place) -> None` that edits the tree it is given.
"""
