/** The schemas of the management API that have a name in its document. */
import * as answers from '../../manage/answer-schemas.js';
import * as requests from '../../manage/schemas.js';

export const components: Readonly<Record<string, object>> = {
  ForgetRequest: requests.forgetBody,
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
