"""Version of the package, that of the daemon it was made for."""

__version__ = "0.1.0"
