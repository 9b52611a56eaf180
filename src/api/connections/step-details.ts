/** What steps of the connection test say of the settings that apply there. */
import { hoursState } from '../../base/hours.js';
import type { Connection } from '../../connections/connection.js';

type Limits = Partial<Pick<Connection, 'bytesPerSecond' | 'hours'>>;

/** The rate and the hours that hold for operations, at `now`; undefined if none is set. */
export function limitsDetail({ bytesPerSecond, hours = '' }: Limits, now: number): string | undefined {
  const parts: string[] = [];
  if (bytesPerSecond !== undefined) parts.push(`${bytesPerSecond} bytes a second`);
  if (hours !== '') parts.push(hoursWords(hours, now));
  return parts.length === 0 ? undefined : parts.join(', ');
}

function hoursWords(hours: string, now: number): string {
  const { opensAt, closesAt } = hoursState(hours, now);
  if (opensAt !== undefined) return `closed until ${opensAt.toISOString()}`;
  return closesAt === undefined ? 'always open' : `open until ${closesAt.toISOString()}`;
}

/** What is asked of the store with each new object: `encryption aes256, acl private`; empty if nothing is. */
export function objectDetail(connection: Connection): string {
  if (connection.type !== 's3') return '';
  const { encryption, storageClass, acl, requesterPays, checksums } = connection;
  const parts: string[] = [];
  if (encryption.type !== 'none') parts.push(`encryption ${encryption.type}`);
  if (storageClass !== undefined) parts.push(`storageClass ${storageClass}`);
  if (acl !== 'none') parts.push(`acl ${acl}`);
  if (requesterPays) parts.push('requesterPays');
  if (checksums !== 'auto') parts.push(`checksums ${checksums}`);
  return parts.join(', ');
}
