/** A transfer as the management API shows it. */
import { object } from '../../contract/schema.js';
import { exampleOf, shownFields } from '../../contract/thing.js';
import { managedTransferFields, transferExample } from '../../contract/transfer.js';

export const managedTransfer = object('ManagedTransfer', shownFields(managedTransferFields, 'owner'));
export const sample = exampleOf(managedTransferFields, transferExample, 'owner');
