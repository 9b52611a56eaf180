"""The asyncio client. The synchronous one is generated from it: docs/decisions/python-client.md."""
