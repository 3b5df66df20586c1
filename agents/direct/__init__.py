"""Actions, statements and tools of resources as tools of their own, and what every way of calling them shares."""
