/** A try at a receiver as it is shown. */
import { Type } from 'typebox';
import { textOrNull, type TSchemaOf } from '../../contract/schema.js';
import { ERROR_CODE } from '../../contract/words.js';
import { durationMs } from '../fields.js';

type Headers = Readonly<Record<string, string>>;

const headers = (description: string): TSchemaOf<Headers | null> =>
  Type.Unsafe({ type: ['object', 'null'], additionalProperties: { type: 'string' }, description });

export const ATTEMPT_FIELDS = {
  durationMs: durationMs(),
  status: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'HTTP status of the answer; null when there was none.',
  }),
  errorCode: textOrNull(ERROR_CODE),
  errorMessage: textOrNull('What went wrong.'),
  answer: textOrNull('The first 4 kB of the answer.'),
  requestHeaders: headers('Header fields that were sent, without a login; null where they were not kept.'),
  answerHeaders: headers('The first 4 kB of the header fields of the answer; null where there was none.'),
};

export const ATTEMPT_SAMPLE = {
  durationMs: 120,
  status: 500,
  errorCode: null,
  errorMessage: null,
  answer: 'Internal Server Error',
  requestHeaders: { 'content-type': 'application/json', 'webhook-id': '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001' },
  answerHeaders: { 'content-type': 'text/plain' },
};
