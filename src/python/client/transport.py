"""Makes calls, with retries where they are safe."""

from __future__ import annotations

import json
from typing import Any, Dict

import httpx

from .._calls import Call, Options
from .._causes import NETWORK_ERRORS, network_error
from ..errors import FtgError, answered_error
from .io import HttpClient, sleep
from .sending import sent


class AsyncTransport:
    def __init__(self, base_url: str, api_key: str, options: Options, http_client: HttpClient) -> None:
        self.base_url = base_url
        self.api_key = api_key
        self.options = options
        self.http_client = http_client

    async def json(self, call: Call) -> Any:
        response = await self.send(call)
        try:
            return json.loads(response.content)
        except ValueError:
            text = f"the answer of {self.base_url} is no JSON; is a gateway there?"
            raise FtgError(text, code="invalid_answer", status=response.status_code) from None

    async def send(self, call: Call) -> httpx.Response:
        """Sends the call and reads the whole answer."""
        return await self._tried(call, is_whole=True)

    async def open(self, call: Call) -> httpx.Response:
        """Sends the call. The caller reads and closes the body of the answer."""
        return await self._tried(call, is_whole=False)

    async def pause(self, error: FtgError, failures: int) -> None:
        """Waits before an interrupted operation is resumed. It raises ``error`` after too many failures."""
        delay = self.options.retry.delay_after(error, failures, "repeatable")
        if delay is None:
            raise error
        await sleep(delay)

    async def _tried(self, call: Call, is_whole: bool) -> httpx.Response:
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._once(call, is_whole)
            except FtgError as error:
                is_final = call.body is not None and not call.body.can_repeat
                delay = None if is_final else self.options.retry.delay_after(error, attempt, call.repetition)
                if delay is None:
                    raise
            await sleep(delay)

    async def _once(self, call: Call, is_whole: bool) -> httpx.Response:
        response = await self._answer(call)
        try:
            is_good = response.is_success or response.status_code in call.accept
            if is_whole or not is_good:
                await response.aread()
            if not is_good:
                raise answered_error(response.status_code, response.headers, response.content)
        except NETWORK_ERRORS as thrown:
            await response.aclose()
            raise network_error(thrown, self.base_url, response.headers.get("x-request-id")) from thrown
        except BaseException:
            await response.aclose()
            raise
        return response

    async def _answer(self, call: Call) -> httpx.Response:
        """Sends the request and returns the answer before its body is read."""
        headers = self._headers_of(call)
        url = self.base_url + call.target()
        timeout = self.options.limits(call)
        body = None if call.body is None else sent(call.body)
        content = body if call.json is None else json.dumps(call.json, ensure_ascii=False).encode()
        try:
            request = self.http_client.build_request(call.method, url, headers=headers, content=content, timeout=timeout)
            return await self.http_client.send(request, stream=True, follow_redirects=False)
        except NETWORK_ERRORS as thrown:
            raise network_error(thrown, self.base_url) from thrown
        finally:
            # Closes the caller's file, even if it was not read to its end.
            if body is not None:
                await body.aclose()

    def _headers_of(self, call: Call) -> Dict[str, str]:
        headers = {name: value for name, value in call.headers.items() if value is not None}
        headers["Authorization"] = f"Bearer {self.api_key}"
        if self.options.request_id is not None:
            headers["X-Request-Id"] = self.options.request_id
        if call.json is not None:
            headers["Content-Type"] = "application/json"
        if call.body is not None and call.body.size is not None:
            headers["Content-Length"] = str(call.body.size)
        return headers
