"""bright-inspect reads retrieval runs of the BRIGHT benchmarks side by side in a terminal.

Importing the package loads nothing else, so that ``--version`` and the first frame stay quick.
"""

__version__ = "0.1.0"
