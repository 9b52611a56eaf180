"""The synchronous client, generated from the asyncio client: docs/decisions/python-client.md."""
