"""Signatures of webhooks, against an independent signature and against every message that must be refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import unittest

from file_transfer_gateway import WebhookVerificationError, verify_webhook

KEY = b"\x07" * 24
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
BODY = '{"type":"webhook.test","name":"größe","data":{"files":[1,2.5]}}'.encode()
NOW = 1_800_000_000


def signature(message_id: str = "m", at: int = NOW, body: bytes = BODY, key: bytes = KEY) -> str:
    digest = hmac.new(key, f"{message_id}.{at}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


HEADERS = {"webhook-id": "m", "webhook-timestamp": str(NOW), "webhook-signature": signature()}


class Webhooks(unittest.TestCase):
    def test_a_valid_signature_returns_the_event_for_any_form_of_headers_and_body(self) -> None:
        upper = {name.upper(): value for name, value in HEADERS.items()}
        for headers in (HEADERS, upper, list(HEADERS.items())):
            for body in (BODY, BODY.decode(), bytearray(BODY)):
                self.assertEqual(verify_webhook(SECRET, headers, body, now=NOW)["type"], "webhook.test")

    def test_one_valid_signature_among_several_is_sufficient(self) -> None:
        several = f"{signature(key=b'x' * 24)} v1a,AAAA {signature()}"
        verify_webhook(SECRET, {**HEADERS, "webhook-signature": several}, BODY, now=NOW + 300)

    def test_all_other_messages_are_refused(self) -> None:
        refused = {
            "another body": (HEADERS, BODY + b" ", SECRET, NOW),
            "another id": ({**HEADERS, "webhook-id": "n"}, BODY, SECRET, NOW),
            "another secret": (HEADERS, BODY, f"whsec_{base64.b64encode(b'x' * 24).decode()}", NOW),
            "too old": (HEADERS, BODY, SECRET, NOW + 301),
            "from the future": (HEADERS, BODY, SECRET, NOW - 301),
            "a time that is none": ({**HEADERS, "webhook-timestamp": "now"}, BODY, SECRET, NOW),
            "another version": ({**HEADERS, "webhook-signature": signature().replace("v1", "v2")}, BODY, SECRET, NOW),
            "no signature": ({**HEADERS, "webhook-signature": ""}, BODY, SECRET, NOW),
            "no header fields": ({}, BODY, SECRET, NOW),
            "signs that are not ASCII": ({**HEADERS, "webhook-signature": "v1,ü"}, BODY, SECRET, NOW),
        }
        for name, (headers, body, secret, now) in refused.items():
            with self.subTest(name), self.assertRaises(WebhookVerificationError):
                verify_webhook(secret, headers, body, now=now)
        with self.assertRaises(ValueError):
            verify_webhook("whsec_!", HEADERS, BODY, now=NOW)

    def test_a_body_that_was_parsed_is_explained(self) -> None:
        parsed = json.loads(BODY)
        for body in (parsed, json.dumps(parsed), json.dumps(parsed, indent=2).encode()):
            with self.assertRaisesRegex(WebhookVerificationError, r"parsed .*get_data\(\) in Flask"):
                verify_webhook(SECRET, HEADERS, body, now=NOW)
        with self.assertRaisesRegex(WebhookVerificationError, "the secret is another one"):
            verify_webhook(SECRET, HEADERS, b'{"another":1}', now=NOW)
