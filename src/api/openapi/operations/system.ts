/** Endpoints of the gateway itself. */
import { statusAnswer } from '../../answer-schemas.js';
import type { Description } from '../types.js';
import { JSON_TYPE } from './samples.js';

const PAGE_HEADERS = ['Content-Security-Policy', 'X-Content-Type-Options', 'Referrer-Policy'];

export const systemOperations: Readonly<Record<string, Description>> = {
  'GET /healthz': {
    operationId: 'health',
    tag: 'System',
    summary: 'Is it alive?',
    description: 'Answers as soon as the process serves.',
    success: {
      200: {
        description: 'It is.',
        content: { [JSON_TYPE]: { schema: statusAnswer, examples: { ok: { value: { status: 'ok' } } } } },
      },
    },
  },
  'GET /readyz': {
    operationId: 'readiness',
    tag: 'System',
    summary: 'Is it ready?',
    description: 'Whether the database can be reached and takes writes, and requests should be sent here.',
    success: {
      200: {
        description: 'It is.',
        content: { [JSON_TYPE]: { schema: statusAnswer, examples: { ready: { value: { status: 'ready' } } } } },
      },
    },
    errors: ['draining', 'database_away'],
  },
  'GET /metrics': {
    operationId: 'metrics',
    tag: 'System',
    summary: 'Metrics for Prometheus',
    description: 'Counters, gauges and histograms; asks for the bearer token `metrics.token` where one is configured.',
    success: {
      200: {
        description: 'Text in the exposition format.',
        content: {
          'text/plain': {
            schema: { type: 'string' },
            examples: { gauge: { value: '# TYPE ftg_open_requests gauge\nftg_open_requests 1\n' } },
          },
        },
      },
    },
    errors: ['unauthenticated'],
  },
  ...referenceOperations('/openapi.json', '/docs'),
};

/** The rows of a document and of its page: both APIs have them. */
export function referenceOperations(document: string, page: string): Readonly<Record<string, Description>> {
  return {
    [`GET ${document}`]: {
      operationId: 'openApiDocument',
      tag: 'System',
      summary: 'This document',
      description: 'OpenAPI 3.1.',
      headers: ['If-None-Match'],
      success: {
        200: {
          description: 'The document.',
          headers: ['ETag'],
          content: {
            [JSON_TYPE]: {
              schema: { type: 'object' },
              examples: { head: { summary: 'Its beginning', value: { openapi: '3.1.1' } } },
            },
          },
        },
        304: { description: 'The client has it already.', headers: ['ETag'] },
      },
    },
    [`GET ${page}`]: {
      operationId: 'referencePage',
      tag: 'System',
      summary: 'The reference page',
      description: 'This document for people: one page that loads nothing else.',
      headers: ['If-None-Match'],
      success: {
        200: {
          description: 'The page.',
          headers: ['ETag', ...PAGE_HEADERS],
          content: {
            'text/html': { schema: { type: 'string' }, examples: { head: { value: '<!doctype html>' } } },
          },
        },
        304: { description: 'The client has it already.', headers: ['ETag', ...PAGE_HEADERS] },
      },
    },
  };
}
