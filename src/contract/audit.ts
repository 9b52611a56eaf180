/**
 * What the audit log records, defined once: each action as a sentence, with the name of its target and of its author.
 * German: de/audit.ts.
 */
const catalogue = {
  'login.succeeded': 'Login, by {actor}',
  'login.failed': 'A login failed, by {actor}',
  'login.ended': 'Logout, by {actor}',
  'session.revoke': 'Session {name} was revoked by {actor}',
  'session.revoke_others': 'All other sessions were ended by {actor}',
  'account.change_password': 'The password was changed by {actor}',
  'account.enable_totp': 'The second factor was switched on by {actor}',
  'account.disable_totp': 'The second factor was switched off by {actor}',
  'account.renew_recovery_codes': 'The recovery codes were renewed by {actor}',
  'account.change_brand': 'The brand was changed by {actor}',
  'connection.create': 'Connection {name} was created by {actor}',
  'connection.update': 'Connection {name} was changed by {actor}',
  'connection.delete': 'Connection {name} was deleted by {actor}',
  'connection.activate': 'Connection {name} was switched on by {actor}',
  'connection.deactivate': 'Connection {name} was switched off by {actor}',
  'connection.pin_host_key': 'A host key was pinned for connection {name} by {actor}',
  'connection.accept_host_key': 'An announced host key was accepted for connection {name} by {actor}',
  'connection.reject_host_key': 'An announced host key was rejected for connection {name} by {actor}',
  'connection.drop_host_key': 'A host key was removed from connection {name} by {actor}',
  'connection.forget_host_keys': 'All host keys were removed from connection {name} by {actor}',
  'api_key.create': 'API key {name} was created by {actor}',
  'api_key.update': 'API key {name} was changed by {actor}',
  'api_key.rotate': 'API key {name} was rotated by {actor}',
  'api_key.revoke': 'API key {name} was revoked by {actor}',
  'api_key.s3_create': 'An S3 access key was created for API key {name} by {actor}',
  'api_key.s3_delete': 'An S3 access key of API key {name} was deleted by {actor}',
  'key_pair.create': 'Key pair {name} was created by {actor}',
  'key_pair.delete': 'Key pair {name} was deleted by {actor}',
  'schedule.create': 'Schedule {name} was created by {actor}',
  'schedule.update': 'Schedule {name} was changed by {actor}',
  'schedule.delete': 'Schedule {name} was deleted by {actor}',
  'alarms.update': 'The alarms were changed by {actor}',
  'alarms.confirm': 'A recipient of alarms was confirmed by {actor}',
  'alarms.send_code': 'A code was sent to a recipient of alarms by {actor}',
  'watched_folder.create': 'Watched folder {name} was created by {actor}',
  'watched_folder.edit': 'Watched folder {name} was changed by {actor}',
  'watched_folder.delete': 'Watched folder {name} was deleted by {actor}',
  'watched_folder.pause': 'The checks of watched folder {name} were paused by {actor}',
  'watched_folder.resume': 'The checks of watched folder {name} were resumed by {actor}',
  'watched_folder.forget': 'Known files of watched folder {name} were forgotten by {actor}',
  'watched_folder.show_secret': 'The secret of watched folder {name} was shown to {actor}',
  'watched_folder.rotate_secret': 'The secret was replaced for watched folder {name} by {actor}',
  'delivery.replay': 'Delivery {name} was sent again by {actor}',
  'delivery.replay_all': 'Many deliveries were sent again by {actor}',
  'webhook.create': 'Webhook {name} was created by {actor}',
  'webhook.update': 'Webhook {name} was changed by {actor}',
  'webhook.delete': 'Webhook {name} was deleted by {actor}',
  'webhook.rotate_secret': 'The secret was replaced for webhook {name} by {actor}',
  'webhook_secret.rotate': 'The webhook secret of the account was replaced by {actor}',
  'webhook_secret.show': 'The webhook secret of the account was shown to {actor}',
  'link.create': 'Link {name} was created by {actor}',
  'link.revoke': 'Link {name} was revoked by {actor}',
  'transfer.cancel': 'Transfer {name} was cancelled by {actor}',
} as const;

/** Who did it: `anonymous` is the gateway, or a failed login. */
export const ACTOR_KINDS = ['session', 'key', 'anonymous'] as const;

export type AuditAction = keyof typeof catalogue;
/** What an action changes: the part before the dot. */
export type AuditArea = AuditAction extends `${infer Area}.${string}` ? Area : never;
export type AuditTexts = Readonly<Record<AuditAction, string>>;

export const actions: AuditTexts = catalogue;
