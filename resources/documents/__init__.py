"""Documents of many formats to one structure: blocks with positions, metadata, Markdown, pages and tables.

Nothing is imported here: the process that extracts one document should be there at once.
"""
