/** Endpoints that carry the content of files. */
import * as answers from '../../answer-schemas.js';
import { BINARY, contentRequest, uploadBase64, uploadFromUrl, uploadMultipart } from '../components.js';
import type { Description } from '../types.js';
import { connection, JSON_TYPE, transfer } from './samples.js';

const FILE_HEADERS = ['Content-Disposition', 'Last-Modified', 'ETag', 'Accept-Ranges', 'X-Content-Type-Options'];

export const contentOperations: Readonly<Record<string, Description>> = {
  'POST /api/upload/:connectionId': {
    operationId: 'uploadFile',
    tag: 'Files',
    summary: 'Upload a file',
    description:
      'Streams a file to the remote server in one of four forms: `multipart/form-data`, JSON with base64, JSON with a URL that the gateway fetches, ' +
      'or the raw bytes as `application/octet-stream`. The file becomes visible whole or not at all. The four naming fields may stand in the query in ' +
      'every form; a field of the body wins. Raw bytes need `filename` in the query or a Content-Disposition.',
    headers: ['Content-Digest', 'Content-Disposition'],
    body: {
      'multipart/form-data': {
        schema: uploadMultipart,
        examples: {
          file: {
            summary: 'A file, and where to put it',
            value: { file: '(bytes)', path: '/upload', overwrite: false },
          },
        },
      },
      'application/json': {
        schema: { oneOf: [uploadBase64, uploadFromUrl] },
        examples: {
          base64: {
            summary: 'Content as base64',
            value: { filename: 'hello.txt', content: 'SGVsbG8sIHdvcmxkIQo=', path: '/upload' },
          },
          url: {
            summary: 'Fetched from a URL',
            value: { url: 'https://example.com/report.pdf', path: '/upload', filename_template: '{date}-{filename}' },
          },
        },
      },
      'application/octet-stream': { schema: BINARY, examples: { bytes: { summary: 'The bytes', value: '(bytes)' } } },
    },
    query: { path: '/upload' },
    success: {
      200: {
        description: 'The file is stored.',
        content: {
          [JSON_TYPE]: { schema: answers.uploadAnswer, examples: { stored: { value: { success: true, transfer } } } },
        },
      },
    },
    isRemote: true,
    errors: [
      'bad_base64',
      'digest_mismatch',
      'quota_exceeded',
      'not_found',
      'already_exists',
      'is_a_folder',
      'no_space',
      'size_mismatch',
      'fetch_failed',
    ],
  },
  'GET /api/download/:connectionId': {
    operationId: 'downloadFile',
    tag: 'Files',
    summary: 'Download a file',
    description:
      'Streams a file from the remote server. A failure after the head of the answer cuts the connection, so that a short body never looks complete.',
    headers: ['Range', 'If-Range', 'If-None-Match', 'If-Modified-Since'],
    success: {
      200: {
        description:
          'The file; with `format=json` an object that holds it as base64, without the header fields of a file.',
        headers: [...FILE_HEADERS.map((name) => `${name}?`), 'Content-Length'],
        content: {
          'application/octet-stream': {
            schema: BINARY,
            examples: { bytes: { summary: 'The file', value: '(bytes)' } },
          },
          [JSON_TYPE]: {
            schema: answers.downloadAnswer,
            examples: {
              json: {
                summary: 'format=json',
                value: {
                  success: true,
                  filename: 'hello.txt',
                  path: '/upload/hello.txt',
                  size: 14,
                  encoding: 'base64',
                  content: 'SGVsbG8sIHdvcmxkIQo=',
                },
              },
            },
          },
        },
      },
      206: {
        description: 'The range that was asked for.',
        headers: [...FILE_HEADERS, 'Content-Range', 'Content-Length'],
        content: { 'application/octet-stream': { schema: BINARY, examples: { bytes: { value: '(bytes)' } } } },
      },
      304: { description: 'The client has it already.', headers: FILE_HEADERS },
    },
    isRemote: true,
    errors: ['quota_exceeded', 'not_found', 'is_a_folder', 'bad_range', 'size_mismatch'],
  },
  'GET /api/read/:connectionId': {
    operationId: 'readFile',
    tag: 'Files',
    summary: 'Read a small file',
    description: 'Content of a file as text or base64, up to the read limit (10 MB unless configured otherwise).',
    query: { path: '/upload/hello.txt', rawName: 'aGVsbG8udHh0' },
    success: {
      200: {
        description: 'The content.',
        content: {
          [JSON_TYPE]: {
            schema: answers.readAnswer,
            examples: {
              text: {
                value: {
                  success: true,
                  content: 'Hello, world!\n',
                  encoding: 'text',
                  size: 14,
                  path: '/upload/hello.txt',
                },
              },
            },
          },
        },
      },
    },
    isRemote: true,
    errors: ['quota_exceeded', 'not_found', 'is_a_folder', 'too_large', 'size_mismatch'],
  },
  'POST /api/write/:connectionId': {
    operationId: 'writeFile',
    tag: 'Files',
    summary: 'Write a file',
    description:
      'Creates or replaces a file, whole or not at all. Content of more than 1 MiB stands after path and encoding.',
    headers: ['Content-Digest'],
    body: {
      [JSON_TYPE]: {
        schema: contentRequest,
        examples: { text: { value: { path: '/upload/hello.txt', content: 'Hello, world!\n' } } },
      },
    },
    success: {
      200: {
        description: 'The file is stored.',
        content: {
          [JSON_TYPE]: {
            schema: answers.writeAnswer,
            examples: { stored: { value: { success: true, path: '/upload/hello.txt', size: 14 } } },
          },
        },
      },
    },
    isRemote: true,
    errors: [
      'bad_base64',
      'digest_mismatch',
      'quota_exceeded',
      'not_found',
      'is_a_folder',
      'no_space',
      'size_mismatch',
    ],
  },
  'POST /api/append/:connectionId': {
    operationId: 'appendToFile',
    tag: 'Files',
    summary: 'Append to a file',
    description:
      'Adds content to the end of an existing file, as given: no line end is added. The file stays as it is until the whole request has come and is known to be valid. Not on S3 connections.',
    headers: ['Content-Digest'],
    body: {
      [JSON_TYPE]: {
        schema: contentRequest,
        examples: { line: { value: { path: '/upload/log.txt', content: 'one more line\n' } } },
      },
    },
    success: {
      200: {
        description: 'The content is added.',
        content: {
          [JSON_TYPE]: {
            schema: answers.appendAnswer,
            examples: {
              added: {
                value: {
                  success: true,
                  transfer: {
                    id: transfer.id,
                    filename: 'log.txt',
                    path: '/upload/log.txt',
                    appendedBytes: 14,
                    durationMs: 31,
                    connection,
                  },
                },
              },
            },
          },
        },
      },
    },
    isRemote: true,
    errors: [
      'bad_base64',
      'digest_mismatch',
      'unsupported_operation',
      'quota_exceeded',
      'not_found',
      'is_a_folder',
      'no_space',
      'size_mismatch',
    ],
  },
};
