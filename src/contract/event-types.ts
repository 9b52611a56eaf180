/** Those that a webhook can subscribe to. */
export const EVENT_TYPES = [
  'watched_folder.files_detected',
  'watched_folder.late',
  'transfer.failed',
  'job.finished',
  'connection.down',
  'connection.up',
  'attention.raised',
  'attention.cleared',
] as const;
