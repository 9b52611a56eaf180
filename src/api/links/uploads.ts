/**
 * Resumable uploads through a link: at the address of the link itself, for anyone with its secret. They keep its terms
 * as a PUT does. A request takes the use of its upload while it writes, and the last one is counted.
 */
import { unknown } from '../../base/errors.js';
import { createChecker } from '../../base/schema-check.js';
import { isUuid } from '../../base/uuid.js';
import type { HttpAnswer } from '../../http/types.js';
import { PRIVATE } from '../../links/page.js';
import { shownOnPage } from '../../links/refusals.js';
import { fixedPath } from '../../operations/path-reference.js';
import { ROOT, type RemotePath } from '../../remotes/path.js';
import type { UploadRequest } from '../../uploads/file.js';
import { endpoints } from '../endpoint.js';
import type { Services } from '../services.js';
import {
  type AskedUpload,
  ABILITIES,
  begin,
  BEGUN,
  common,
  end,
  FAR,
  goOn,
  meantBy,
  PIECES,
  show,
  TUNNEL,
  uploadParameter,
  WRITTEN,
} from '../uploads/requests.js';
import { abilities, lengthOf, metadataOf, refuseConcatenation, requireVersion } from '../uploads/tus.js';
import {
  linkDigestOf,
  type LinkInput,
  mostBytesOf,
  notAllowed,
  open,
  type Opened,
  linkOperationOf,
  parameter,
  PRIVATE_FIELDS,
  sentFields,
  stillOpens,
  linkTargetOf,
} from './opened.js';

const parameters = {
  ...parameter,
  ...uploadParameter,
};
const endpoint = endpoints('Links', parameters);
export const linkUploadEndpoints = endpoint.all;

const here = { ...common, access: 'public' } as const;
const REFUSALS = [
  ...(['unknown_item', 'gone', 'forbidden', 'rate_limited', 'unsupported_version'] as const),
  ...(['share_exceeded', 'quota_exceeded', 'already_exists', 'is_a_folder', 'no_space', 'size_mismatch'] as const),
  ...(['upload_locked', 'resume_unsupported', 'too_large', 'digest_mismatch', 'readback_mismatch'] as const),
] as const;
const LATER = [...REFUSALS, 'unknown_upload'] as const;
const privately = <A extends { readonly headers: readonly string[] }>(answer: A) => ({
  ...answer,
  headers: [...answer.headers, ...PRIVATE_FIELDS],
});

endpoint('OPTIONS /l/:token', {
  ...here,
  operationId: 'describeUploadsByLink',
  summary: 'What resumable uploads by a link can',
  description: 'The same as `describeUploads`, with the limit of this link.',
  answers: { 204: privately(ABILITIES) },
  errors: ['unknown_item', 'gone', 'forbidden', 'rate_limited'],
}).handle(
  withLink(async (_input, services, { link }) => ({ status: 204, headers: abilities(mostBytesOf(link, services)) }), {
    goesOn: true,
    isVersioned: false,
  }),
);

endpoint('POST /l/:token', {
  ...here,
  operationId: 'beginUploadByLink',
  summary: 'Begin a resumable upload by a link',
  description:
    'The same as `beginUpload`, for the users of an upload link and on its terms. `Upload-Metadata` takes `filename` and `folder`. The upload is known at the address of this link alone.',
  headers: [
    ...['Tus-Resumable', 'Upload-Length', 'Upload-Defer-Length', 'Upload-Metadata', 'Upload-Checksum'],
    'Want-Repr-Digest',
  ],
  streams: PIECES,
  skippable: true,
  answers: { 201: privately(BEGUN) },
  errors: [...REFUSALS, 'checksum_mismatch'],
}).handle(
  withLink(async (input, services, opened) => {
    const { request, noteFields } = input;
    refuseConcatenation(request);
    const given = metadataOf(request);
    noteFields(given, sentFields);
    const { folder, filename } = linkTargetOf(opened.link, checkMetadata(given));
    const order = {
      folder: fixedPath(folder),
      filename,
      template: undefined,
      overwrite: opened.link.overwrite,
      length: lengthOf(request),
      modifiedAt: undefined,
      metadata: request.headers.get('upload-metadata') ?? '',
    };
    const operation = uploadRequest(input, services, opened, folder, filename);
    return begin(services, { request, operation, order, address: `/l/${input.params.token}` });
  }),
);

endpoint('HEAD /l/:token/:uploadId', {
  ...here,
  operationId: 'lookAtUploadByLink',
  summary: 'How far an upload by a link is',
  description: 'The same as `lookAtUpload`, for an upload that was begun with this link.',
  headers: ['Tus-Resumable'],
  answers: { 200: privately(FAR) },
  errors: LATER,
}).handle(withUpload(show));

endpoint('PATCH /l/:token/:uploadId', {
  ...here,
  operationId: 'goOnWithUploadByLink',
  summary: 'Continue an upload by a link',
  description: 'The same as `goOnWithUpload`, for an upload that was begun with this link.',
  headers: ['Tus-Resumable', 'Upload-Offset', 'Upload-Length', 'Upload-Checksum'],
  streams: PIECES,
  skippable: true,
  answers: { 204: privately(WRITTEN) },
  errors: [...LATER, 'offset_mismatch', 'checksum_mismatch'],
}).handle(withUpload(goOn));

endpoint('DELETE /l/:token/:uploadId', {
  ...here,
  operationId: 'endUploadByLink',
  summary: 'Give up an upload by a link',
  description: 'Removes what is stored of it. The file that a finished one has become stays.',
  headers: ['Tus-Resumable'],
  answers: {
    204: privately({ description: 'Nothing is left of it.', headers: ['Tus-Resumable', 'Tus-Version'] }),
  },
  errors: LATER,
}).handle(withUpload(end));

endpoint('POST /l/:token/:uploadId', {
  ...here,
  ...TUNNEL,
  operationId: 'tunnelUploadByLink',
  answers: { 200: privately(FAR), 204: privately(WRITTEN) },
  errors: [...LATER, 'offset_mismatch', 'checksum_mismatch'],
}).handle(
  withUpload(async (services, asked) =>
    meantBy<UploadWork>(asked.request, { HEAD: show, PATCH: goOn, DELETE: end })(services, asked),
  ),
);

type UploadWork = (services: Services, asked: AskedUpload) => Promise<HttpAnswer>;

const checkMetadata = createChecker(sentFields, 'Upload-Metadata');

type Handler<I> = (input: I, services: Services) => Promise<HttpAnswer>;

/** Opens the link; what fails is shown in words for strangers. */
function withLink<I extends LinkInput>(
  work: (input: I, services: Services, opened: Opened) => Promise<HttpAnswer>,
  { goesOn = false, isVersioned = true } = {},
): Handler<I> {
  return async (input, services) => {
    try {
      const opened = await open(input, services, { goesOn });
      if (opened.link.operation !== 'upload') return notAllowed('this link is for a download: GET it', 'GET, HEAD');
      if (isVersioned) requireVersion(input.request);
      const { headers, ...answer } = await work(input, services, opened);
      return { ...answer, headers: { ...headers, ...PRIVATE } };
    } catch (error) {
      throw shownOnPage(error);
    }
  };
}

type UploadInput = LinkInput & { readonly params: { readonly uploadId: string } };

function withUpload(work: UploadWork): Handler<UploadInput> {
  return withLink(
    async (input, services, opened) => {
      const { uploadId: id } = input.params;
      if (!isUuid(id)) throw unknown('upload', id);
      const operation = uploadRequest(input, services, opened, ROOT, '');
      return work(services, { request: input.request, operation, id });
    },
    { goesOn: true },
  );
}

function uploadRequest(
  input: LinkInput,
  services: Services,
  opened: Opened,
  folder: RemotePath,
  filename: string,
): UploadRequest {
  const { link } = opened;
  return {
    ...linkOperationOf(input, opened, 'upload', folder, filename),
    link: services.links.service.useOf(link),
    terms: {
      maxBytes: mostBytesOf(link, services),
      digest: linkDigestOf(link),
      permit: () => stillOpens(services, input.params.token),
    },
  };
}
