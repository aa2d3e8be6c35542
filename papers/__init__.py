"""The tables and figures of the five papers, computed again and set beside the printed numbers.

``python -m papers`` (``make papers``) writes ``docs/papers``. P0 to P4 are the papers in the order in which the methods
were built; each has a module with one function, ``page``. Numbers typed from the papers stand in ``printed.csv`` and
nowhere else.
"""
