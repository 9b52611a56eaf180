/** The addresses of the S3 front in the answer that makes an access key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { s3EndpointsOf } from '../../src/api/account/s3-endpoints.js';

const OFF = { endpoint: null, rootEndpoint: null };

const asked = (host: string) => ({ headers: new Map([['host', host]]) });

test('the address of the request, and the port of the front', () => {
  const address = { publicUrl: '', isTls: false };
  const own = { enabled: true, port: 9000 };
  for (const [host, endpoint, rootEndpoint] of [
    ['gateway:8080', 'http://gateway:8080/s3', 'http://gateway:9000'],
    ['[::1]:8080', 'http://[::1]:8080/s3', 'http://[::1]:9000'],
    ['a.example/evil', '/s3', null],
    ['', '/s3', null],
  ] as const) {
    assert.deepEqual(s3EndpointsOf(own, address, asked(host)), { endpoint, rootEndpoint }, host);
  }
});

test('the public address, at any address of the request', () => {
  const own = { enabled: true, port: 9000 };
  const shown = (isTls: boolean) =>
    s3EndpointsOf(own, { publicUrl: 'https://files.example.com/', isTls }, asked('10.0.0.1'));
  const endpoint = 'https://files.example.com/s3';
  assert.deepEqual(shown(true), { endpoint, rootEndpoint: 'https://files.example.com:9000' });
  assert.deepEqual(shown(false), { endpoint, rootEndpoint: 'http://files.example.com:9000' });
});

test('none that is not served', () => {
  const address = { publicUrl: '', isTls: true };
  const { endpoint, rootEndpoint } = s3EndpointsOf({ enabled: true, port: 0 }, address, asked('gateway'));
  assert.deepEqual([endpoint, rootEndpoint], ['https://gateway/s3', null]);
  assert.deepEqual(s3EndpointsOf({ enabled: false, port: 9000 }, address, asked('gateway')), OFF);
});
