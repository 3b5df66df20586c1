"""What runs inside the sandbox: standard library only, and no import of the rest of the project.

These files are copied into the sandbox as a package of their own, so they import each other relatively.
"""
