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
        """All webhooks, oldest first."""
        return cast("List[Webhook]", (await self._transport.json(reading(at("webhooks"))))["webhooks"])

    async def get(self, webhook_id: str) -> Webhook:
        return cast(Webhook, (await self._transport.json(reading(at("webhooks", webhook_id))))["webhook"])

    async def create(self, webhook: NewWebhook) -> CreatedWebhook:
        """Creates a webhook. Only this answer contains its secret."""
        return cast(CreatedWebhook, await self._transport.json(changing_once(at("webhooks"), {**webhook})))

    async def change(self, webhook_id: str, changes: WebhookChanges) -> Webhook:
        """Absent fields keep their values."""
        call = Call("PATCH", at("webhooks", webhook_id), json={**changes})
        return cast(Webhook, (await self._transport.json(call))["webhook"])

    async def delete(self, webhook_id: str) -> None:
        """Deletes the webhook with its undelivered events."""
        await self._transport.json(Call("DELETE", at("webhooks", webhook_id)))

    async def rotate_secret(self, webhook_id: str) -> str:
        """Returns a new secret. The previous secret also signs for one more day."""
        call = changing_once(at("webhooks", webhook_id, "rotate-secret"))
        return cast(str, (await self._transport.json(call))["secret"])

    async def test(self, webhook_id: str) -> WebhookTest:
        """Sends one test message without retries, and returns the receiver's answer."""
        call = changing_once(at("webhooks", webhook_id, "test"))
        return cast(WebhookTest, (await self._transport.json(call))["test"])
