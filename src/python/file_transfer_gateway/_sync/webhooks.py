# Made from _async/webhooks.py by "npm run generate".
"""Webhooks: receivers of the account's events."""

from __future__ import annotations

from typing import List, cast

from .._calls import Call, at, changing_once, reading
from ..types import CreatedWebhook, NewWebhook, Webhook, WebhookChanges, WebhookTest
from .transport import Transport


class Webhooks:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> List[Webhook]:
        """Oldest first."""
        return cast("List[Webhook]", (self._transport.json(reading(at("webhooks"))))["webhooks"])

    def get(self, webhook_id: str) -> Webhook:
        return cast(Webhook, (self._transport.json(reading(at("webhooks", webhook_id))))["webhook"])

    def create(self, webhook: NewWebhook) -> CreatedWebhook:
        """The answer holds its secret, this once."""
        return cast(CreatedWebhook, self._transport.json(changing_once(at("webhooks"), {**webhook})))

    def change(self, webhook_id: str, changes: WebhookChanges) -> Webhook:
        """What is absent stays."""
        call = Call("PATCH", at("webhooks", webhook_id), json={**changes})
        return cast(Webhook, (self._transport.json(call))["webhook"])

    def delete(self, webhook_id: str) -> None:
        """Ends its undelivered events, too."""
        self._transport.json(Call("DELETE", at("webhooks", webhook_id)))

    def rotate_secret(self, webhook_id: str) -> str:
        """The new secret; the one before signs along for a day."""
        call = changing_once(at("webhooks", webhook_id, "rotate-secret"))
        return cast(str, (self._transport.json(call))["secret"])

    def test(self, webhook_id: str) -> WebhookTest:
        """Sends it one message, once; what the receiver answered."""
        call = changing_once(at("webhooks", webhook_id, "test"))
        return cast(WebhookTest, (self._transport.json(call))["test"])
