"""The client of asyncio. The synchronous one is made from it: docs/decisions/python-client.md."""
