import type { AuditLog } from './audit-log.js';
import type { ConnectionEditor } from './connection-editor.js';
import type { Credentials } from './credentials.js';
import type { Figures } from './figures.js';
import type { KeyEditor } from './key-editor.js';
import type { KeyPairs } from './key-pairs.js';
import type { LoginSessions } from './login-sessions.js';
import type { RunningTransfers } from './running-transfers.js';
import type { TransferPages } from './transfer-pages.js';

/** What the owners of accounts see and change. */
export interface Management {
  readonly audit: AuditLog;
  readonly connections: ConnectionEditor;
  readonly credentials: Credentials;
  readonly figures: Figures;
  readonly keys: KeyEditor;
  readonly keyPairs: KeyPairs;
  readonly sessions: LoginSessions;
  readonly running: RunningTransfers;
  readonly transfers: TransferPages;
}
