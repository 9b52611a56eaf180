import type { AuditLog } from './tables/audit-log.js';
import type { ConnectionEditor } from './tables/connection-editor.js';
import type { Credentials } from './tables/credentials.js';
import type { Figures } from './tables/figures.js';
import type { KeyEditor } from './tables/key-editor.js';
import type { KeyPairs } from './tables/key-pairs.js';
import type { LoginSessions } from './tables/login-sessions.js';
import type { RunningTransfers } from './tables/running-transfers.js';
import type { TransferPages } from './tables/transfer-pages.js';

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
