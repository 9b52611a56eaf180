/**
 * Settings of buckets and objects that cannot be made here. A read of one is answered as Amazon S3 answers where it was
 * never made: some programs ask for them before they work, and give up after a 501.
 */
import type { HttpAnswer } from '../../http/types.js';
import { bucketOf, type Call, type Command, XML, xmlAnswer } from '../call.js';
import { S3Error, type S3Code } from '../errors.js';
import { lookAt } from '../look.js';
import { documentOf, element, type XmlContent, type XmlElement } from '../xml.js';

type Answer = (call: Call) => HttpAnswer;

interface Setting {
  /** The parameter that asks for it. */
  readonly query: readonly [string];
  readonly command: Command;
}

const document =
  (root: string, content: XmlContent = []): Answer =>
  () =>
    xmlAnswer(root, content);

const missing =
  (code: S3Code, what: string): Answer =>
  () => {
    throw new S3Error(code, `the bucket has no ${what}`, 'not_found');
  };

/** s3cmd reads the kind of a grantee from its attribute. */
const GRANTEE = '<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">';

/** The ACL `private`, which every bucket and object here has. */
const acl: Answer = ({ caller }) => {
  const owner: readonly XmlElement[] = [
    ['ID', caller.accountId],
    ['DisplayName', caller.accountId],
  ];
  const grantee = element('Grantee', owner).replace('<Grantee>', GRANTEE);
  const grant = `<Grant>${grantee}${element('Permission', 'FULL_CONTROL')}</Grant>`;
  const list = `<AccessControlList>${grant}</AccessControlList>`;
  return { status: 200, headers: XML, body: documentOf('AccessControlPolicy', [element('Owner', owner), list]) };
};

const BUCKET: Readonly<Record<string, Answer>> = {
  accelerate: document('AccelerateConfiguration'),
  acl,
  cors: missing('NoSuchCORSConfiguration', 'CORS configuration'),
  encryption: missing('ServerSideEncryptionConfigurationNotFoundError', 'encryption'),
  lifecycle: missing('NoSuchLifecycleConfiguration', 'lifecycle'),
  logging: document('BucketLoggingStatus'),
  notification: document('NotificationConfiguration'),
  'object-lock': missing('ObjectLockConfigurationNotFoundError', 'object lock'),
  ownershipControls: missing('OwnershipControlsNotFoundError', 'ownership controls'),
  policy: missing('NoSuchBucketPolicy', 'policy'),
  policyStatus: missing('NoSuchBucketPolicy', 'policy'),
  publicAccessBlock: missing('NoSuchPublicAccessBlockConfiguration', 'public access block'),
  replication: missing('ReplicationConfigurationNotFoundError', 'replication'),
  requestPayment: document('RequestPaymentConfiguration', [['Payer', 'BucketOwner']]),
  tagging: missing('NoSuchTagSet', 'tags'),
  versioning: document('VersioningConfiguration'),
  website: missing('NoSuchWebsiteConfiguration', 'website'),
};

const OBJECT: typeof BUCKET = {
  acl,
  tagging: document('Tagging', [['TagSet', []]]),
};

/** All settings of a level have one name: it is a label of metrics. */
const settingsOf = (
  answers: Readonly<Record<string, Answer>>,
  command: Pick<Command, 'name' | 'scope'>,
  find: (call: Call) => Promise<unknown>,
): readonly Setting[] =>
  Object.entries(answers).map(([query, answer]) => {
    const run = async (call: Call): Promise<HttpAnswer> => {
      await find(call);
      return answer(call);
    };
    return { query: [query], command: { ...command, run } };
  });

export const bucketSettings = settingsOf(BUCKET, { name: 'GetBucketSetting', scope: 'any' }, (call) => bucketOf(call));
export const objectSettings = settingsOf(OBJECT, { name: 'GetObjectSetting', scope: 'read' }, async (call) =>
  lookAt(call, await bucketOf(call), call.key),
);
