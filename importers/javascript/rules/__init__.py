"""JavaScript's rules in Python. What a translated program needs of these functions is written below it, as it stands here.

Nothing here is called by the importer itself: the text of the functions is what counts. They use the standard library only.
"""
