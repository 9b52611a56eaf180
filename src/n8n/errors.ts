/** Failures as n8n shows them: what happened, what to do, and the code for decisions of a workflow. */
import { type INode, type JsonObject, NodeApiError, NodeOperationError } from 'n8n-workflow';
import { parseRetryAfter } from '../base/retry-schedule.js';
import { definitionOfError, textsOfError } from '../contract/errors.js';
import { type Answer, field } from './answer.js';

/** Codes of the nodes themselves. */
const OWN: Readonly<Record<string, string>> = {
  invalid_name: 'Correct the path or the file name: it holds half of a character.',
  cut_download: 'Turn on Retry On Fail in the settings of the node.',
};

/** The facts of a failure, for programs. */
type Facts = {
  readonly error: string;
  readonly code: string;
  readonly remedy: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
  /** Seconds. */
  readonly retryAfter: number | null;
  /** The existing file, which was not to be replaced. */
  readonly skipped: boolean;
};

/** Converts an error answer into an error of n8n. */
export function refusedError(node: INode, { statusCode, headers, body }: Answer): NodeApiError {
  const { error, skipped } = (typeof body === 'object' ? body : {}) as { error?: string; skipped?: boolean };
  const askedMs = parseRetryAfter(field(headers, 'retry-after'), Date.now());
  return failure(node, {
    error: error ?? `the answer is ${statusCode}, and not as a gateway answers`,
    code: field(headers, 'x-error-code') ?? 'invalid_answer',
    status: statusCode,
    requestId: field(headers, 'x-request-id') ?? null,
    retryAfter: askedMs === undefined ? null : Math.ceil(askedMs / 1_000),
    skipped: skipped === true,
  });
}

/** An error of the node itself, in the same form. */
export function ownError(
  node: INode,
  code: 'invalid_answer' | 'invalid_name' | 'cut_download',
  error: string,
): NodeApiError {
  return failure(node, { error, code, status: null, requestId: null, retryAfter: null, skipped: false });
}

function failure(node: INode, known: Omit<Facts, 'remedy'>): NodeApiError {
  const facts: Facts = { ...known, remedy: remedyOf(known.code) ?? null };
  const request = facts.requestId === null ? '' : `, request ID: ${facts.requestId}`;
  const description = [facts.remedy, `Code: ${known.code}${request}`].filter((text) => text !== null).join(' ');
  const httpCode = facts.status === null ? {} : { httpCode: String(facts.status) };
  const made = new NodeApiError(node, facts, { message: facts.error, description, ...httpCode });
  // n8n replaces messages with its own; the gateway's text stays readable for workflows.
  made.context['data'] = facts;
  return made;
}

function remedyOf(code: string): string | undefined {
  const remedy = OWN[code] ?? textsOfError(code)?.remedy;
  return definitionOfError(code)?.repeat === undefined ? remedy : `${remedy} ${REPEATING}`;
}

/** The nodes send Idempotency-Keys, so a retry is safe. */
const REPEATING = 'Retry On Fail in the settings of the node does so by itself.';

/** Converts an error of this item into an error of n8n. */
export function itemError(node: INode, thrown: unknown, itemIndex: number): NodeApiError | NodeOperationError {
  const error =
    thrown instanceof NodeApiError || thrown instanceof NodeOperationError
      ? thrown
      : new NodeOperationError(node, thrown instanceof Error ? thrown : String(thrown));
  error.context['itemIndex'] = itemIndex;
  return error;
}

/** The same as the output of an item, if the workflow continues. */
export function outputOf(error: NodeApiError | NodeOperationError): JsonObject {
  const facts = error.context['data'] as Facts | undefined;
  return facts?.error === undefined ? { error: error.message } : facts;
}
