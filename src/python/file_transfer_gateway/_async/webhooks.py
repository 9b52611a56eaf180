"""Webhooks: receivers of the account's events."""

from __future__ import annotations

from typing import List, cast

from .._calls import Call, at, changing_once, reading
from ..types import CreatedWebhook, NewWebhook, Webhook, WebhookChanges, WebhookTest
from .transport import AsyncTransport


class AsyncWebhooks:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> List[Webhook]:
        """Oldest first."""
        return cast("List[Webhook]", (await self._transport.json(reading(at("webhooks"))))["webhooks"])

    async def get(self, webhook_id: str) -> Webhook:
        return cast(Webhook, (await self._transport.json(reading(at("webhooks", webhook_id))))["webhook"])

    async def create(self, webhook: NewWebhook) -> CreatedWebhook:
        """The answer holds its secret, this once."""
        return cast(CreatedWebhook, await self._transport.json(changing_once(at("webhooks"), {**webhook})))

    async def change(self, webhook_id: str, changes: WebhookChanges) -> Webhook:
        """What is absent stays."""
        call = Call("PATCH", at("webhooks", webhook_id), json={**changes})
        return cast(Webhook, (await self._transport.json(call))["webhook"])

    async def delete(self, webhook_id: str) -> None:
        """Ends its undelivered events, too."""
        await self._transport.json(Call("DELETE", at("webhooks", webhook_id)))

    async def rotate_secret(self, webhook_id: str) -> str:
        """The new secret; the one before signs along for a day."""
        call = changing_once(at("webhooks", webhook_id, "rotate-secret"))
        return cast(str, (await self._transport.json(call))["secret"])

    async def test(self, webhook_id: str) -> WebhookTest:
        """Sends it one message, once; what the receiver answered."""
        call = changing_once(at("webhooks", webhook_id, "test"))
        return cast(WebhookTest, (await self._transport.json(call))["test"])
