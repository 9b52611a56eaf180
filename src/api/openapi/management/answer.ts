/** How the endpoints of the management API say what a good answer is. */
import type { Description } from '../types.js';

/** One good answer: its words, its schema and an example. */
export function answers(
  schema: object,
  value: unknown,
  { status = 200, description = 'Done.', headers }: AnswerDetails = {},
): Description['success'] {
  const content = { 'application/json': { schema, examples: { answer: { value } } } };
  return { [status]: { description, content, ...(headers === undefined ? {} : { headers }) } };
}

interface AnswerDetails {
  readonly status?: number;
  readonly description?: string;
  readonly headers?: readonly string[];
}

/** Bodies, each the only example of its operation. */
export function example(value: unknown): NonNullable<Description['bodyExamples']> {
  return { body: { value } };
}

export const ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001';
export const TIME = '2026-01-31T12:00:00.000Z';
export const LATER = '2026-01-31T14:00:00.000Z';
export const FINGERPRINT = 'SHA256:JcZcCCIxYvmuu6qQUjUpBDiqZKCTZ3dcQkDJpdVqdYs';
