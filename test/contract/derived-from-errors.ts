/**
 * Everything that derives from the catalogue of errors, as functions: new-error.test.ts bundles it with another
 * catalogue.
 */
import { Command } from 'commander';
import type { INode } from 'n8n-workflow';
import { GatewayError } from '../../src/base/errors.js';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { withHint } from '../../src/cli/hints.js';
import { FtgError } from '../../src/client/index.js';
import type { OpenApiDocument } from '../../src/api/openapi/types.js';
import { readSources } from '../../src/docs/sources.js';
import { refusedError } from '../../src/n8n/errors.js';
import { fileApi, managementApi } from '../api/openapi/route-table.js';

export { errors as english } from '../../src/contract/derived/error-texts.js';
export { FIXED_AT_CONNECTION, NOT_BEGUN } from '../../src/contract/derived/error-lists.js';
export { explain } from '../../src/mcp/explain.js';

/** A code of the other catalogue has no type in this one. */
const known = (code: string): never => code as never;

export const made = (code: string): GatewayError => new GatewayError(known(code), 'as it happens');

export const documents = (): readonly OpenApiDocument[] => [fileApi().document, managementApi().document];

export function pageOfErrors(): string {
  return readSources().find(({ file }) => file === 'docs/integrate/errors.md')?.text ?? '';
}

/** The files that the build generates for the clients, by their paths. */
export { textsOfClients as clientTexts } from '../../src/build/clients/texts.js';

/** The failure of an ftg command with this code. */
export async function ftg(
  code: string,
  status: number,
): Promise<{ readonly hint: unknown; readonly exitCode: number }> {
  const error = new FtgError('as it happens', { code: known(code), status });
  const session = { signal: new AbortController().signal } as Parameters<typeof withHint>[1]['session'];
  const hinted = await withHint(error, { command: new Command('ls'), args: [], session });
  return { hint: (hinted as { readonly hint?: unknown }).hint, exitCode: exitCodeOf(hinted) };
}

export function n8nDescription(code: string, statusCode: number): string {
  const headers = { 'x-error-code': code };
  const error = refusedError({ name: 'node' } as INode, { statusCode, headers, body: { error: 'as it happens' } });
  return error.description ?? '';
}
