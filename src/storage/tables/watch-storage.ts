import type { Jobs } from '../cluster/jobs.js';
import type { WatchFiles } from './watch-files.js';
import type { WatchSecrets } from './watch-secrets.js';
import type { WatchStore } from './watches.js';
import type { WebhookEvents } from './webhook-events.js';

/** Watched folders, what they are known to hold, their events, and the work on them that all nodes share. */
export interface WatchStorage {
  readonly folders: WatchStore;
  readonly files: WatchFiles;
  readonly secrets: WatchSecrets;
  readonly events: WebhookEvents;
  readonly jobs: Jobs;
}
