"""Version of the package, that of the daemon it was made for."""

__version__ = "0.2.0"
