"""The synchronous client, made from that of asyncio: docs/decisions/python-client.md."""
