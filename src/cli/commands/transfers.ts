/** `ftg transfers`: the history and what runs now. */
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { TransfersQuery } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import type { Schemas } from '../gateway.js';
import { bytesText, fields, table, timeText } from '../output.js';

interface Listed {
  readonly id: string;
  readonly createdAt: string;
  readonly type: string;
  readonly status: string;
  readonly fileSize: number;
  readonly connectionId: string;
  readonly path: string;
  readonly errorMessage: string | null;
}

interface ListOptions {
  readonly connection?: string;
  readonly status?: TransfersQuery['status'];
  readonly type?: TransfersQuery['type'];
  readonly since?: string;
  readonly digest?: string;
  readonly link?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** By the file API: any key may look. */
export async function listTransfers(
  { gateway, out, signal }: Session,
  _: Arguments,
  { connection, status, type, since, digest, link, limit, offset }: ListOptions,
): Promise<void> {
  const filters = { connection_id: connection, status, type, since, digest, link_id: link, limit, offset };
  const wanted = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
  const answer = await gateway.files.transfers(wanted, { signal });
  out.show(answer, () => listOf(answer.transfers));
}

export async function showTransfer({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const transfer = await gateway.manage.get<Schemas['TransferDetail']>(`transfers/${encodeURIComponent(id)}`);
  out.show(transfer, () => fields(transfer));
}

export async function listLive({ gateway, out }: Session): Promise<void> {
  const answer = await gateway.manage.get<Schemas['LiveTransfersAnswer']>('transfers/live');
  out.show(answer, () => {
    const rows = answer.transfers.map(({ id, type, connectionId, path, live }) => [
      id,
      type,
      live?.step,
      bytesText(live?.bytes ?? 0),
      typeof live?.totalBytes === 'number' ? bytesText(live.totalBytes) : '-',
      `${bytesText(live?.bytesPerSecond ?? 0)}/s`,
      `${connectionId}:${path}`,
    ]);
    return table(['ID', 'TYPE', 'STEP', 'DONE', 'OF', 'SPEED', 'PATH'], rows, 'nothing runs');
  });
}

export async function cancelTransfer({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.post(`transfers/${encodeURIComponent(id)}/cancel`);
  out.show(answer, () => `${id} is told to end`);
}

interface ExportOptions {
  readonly format: 'csv' | 'ndjson';
  readonly connection?: string;
  readonly status?: string;
  readonly type?: string;
  readonly since?: string;
  readonly until?: string;
  readonly search?: string;
}

/** To standard output, as it comes. */
export async function exportTransfers(
  { gateway, signal }: Session,
  _: Arguments,
  { format, connection, status, type, since, until, search }: ExportOptions,
): Promise<void> {
  const query = { format, connectionId: connection, status, type, since, until, search };
  const filters = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
  const response = await gateway.manage.stream('transfers/export', filters);
  if (response.body === null) return;
  await pipeline(Readable.fromWeb(response.body as ReadableStream<Uint8Array>), process.stdout, { signal, end: false });
}

function listOf(transfers: readonly Listed[]): string {
  const rows = transfers.map(({ id, createdAt, type, status, fileSize, connectionId, path, errorMessage }) => [
    id,
    timeText(createdAt),
    type,
    status,
    bytesText(fileSize),
    `${connectionId}:${path}`,
    errorMessage,
  ]);
  return table(['ID', 'BEGAN', 'TYPE', 'STATUS', 'SIZE', 'PATH', 'ERROR'], rows, 'no transfers');
}
