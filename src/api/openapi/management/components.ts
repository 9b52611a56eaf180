/** The schemas of the management API that have a name in its document. */
import * as answers from '../../manage/answer-schemas.js';
import { schemas as connections } from '../../manage/connection-schemas.js';
import * as requests from '../../manage/schemas.js';

export const components: Readonly<Record<string, object>> = {
  ConnectionInput: connections.create,
  ...named(connections.inputs, 'ConnectionInput'),
  ConnectionChanges: connections.changes,
  ConnectionDraft: connections.draft,
  TestDraftRequest: connections.testDraft,
  TestRequest: requests.testBody,
  DuplicateRequest: requests.duplicateBody,
  HostKeyRequest: requests.hostKeyBody,
  ForgetRequest: requests.forgetBody,
  ManagedConnection: answers.connection,
  ...named(answers.connections, 'Connection'),
  ServerCard: answers.serverCard,
  ManagedConnectionsAnswer: answers.managedConnectionsAnswer,
  Dependents: answers.dependents,
  HostKeysAnswer: answers.hostKeysAnswer,
  ScannedKeysAnswer: answers.scannedKeysAnswer,
  TestStep: answers.testStep,
  TestReport: answers.testReport,
  ManagedWatchedFolder: answers.managedFolder,
  CreatedManagedWatchedFolder: answers.createdManagedFolder,
  ManagedWatchedFoldersAnswer: answers.managedFoldersAnswer,
  QueuedAnswer: answers.queuedAnswer,
  DryRunAnswer: answers.dryRunAnswer,
  KnownFilesAnswer: answers.knownFilesAnswer,
  ForgottenAnswer: answers.forgottenAnswer,
  Check: answers.check,
  ChecksAnswer: answers.checksAnswer,
  CheckEntriesAnswer: answers.checkEntriesAnswer,
  SecretAnswer: answers.secretAnswer,
  EventAnswer: answers.eventAnswer,
  Delivery: answers.delivery,
  DeliveriesAnswer: answers.deliveriesAnswer,
  Attempt: answers.attempt,
  AttemptsAnswer: answers.attemptsAnswer,
};

/** `SftpConnection` and its like. */
function named(byType: Readonly<Record<string, object>>, suffix: string): Record<string, object> {
  const entries = Object.entries(byType);
  return Object.fromEntries(
    entries.map(([type, schema]) => [`${type.charAt(0).toUpperCase()}${type.slice(1)}${suffix}`, schema]),
  );
}
