"""The asyncio client, from which the synchronous one is made."""
