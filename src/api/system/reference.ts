/** The rows of an API's document and of its page: both APIs have them. */
import { Type } from 'typebox';
import type { HttpAnswer, HttpRequest } from '../../http/types.js';
import { endpoint, type Endpoint } from '../endpoint.js';

export type Reference = (request: HttpRequest) => HttpAnswer;

const PAGE_HEADERS = ['ETag', 'Content-Security-Policy', 'X-Content-Type-Options', 'Referrer-Policy'];

export const documentAt = (path: string): Endpoint<Reference> =>
  endpoint({
    method: 'GET',
    path,
    access: 'public',
    head: true,
    operationId: 'openApiDocument',
    tag: 'System',
    summary: 'This document',
    description: 'OpenAPI 3.1.',
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'The document.',
        headers: ['ETag'],
        content: {
          'application/json': {
            schema: Type.Unsafe({ type: 'object' }),
            examples: { head: { summary: 'Its beginning', value: { openapi: '3.1.1' } } },
          },
        },
      },
      304: { description: 'The client has it already.', headers: ['ETag'] },
    },
  }).handle(async ({ request }, document: Reference) => document(request));

export const pageAt = (path: string): Endpoint<Reference> =>
  endpoint({
    method: 'GET',
    path,
    access: 'public',
    head: true,
    operationId: 'referencePage',
    tag: 'System',
    summary: 'The reference page',
    description: 'This document for people: one page that loads nothing else.',
    headers: ['If-None-Match'],
    answers: {
      200: {
        description: 'The page.',
        headers: PAGE_HEADERS,
        content: { 'text/html': { schema: Type.String(), examples: { head: { value: '<!doctype html>' } } } },
      },
      304: { description: 'The client has it already.', headers: PAGE_HEADERS },
    },
  }).handle(async ({ request }, page: Reference) => page(request));
