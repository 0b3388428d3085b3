"""The synchronous client. Most of it is generated from the asyncio one when the package is built."""
