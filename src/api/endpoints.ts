/** Every endpoint, at /api for API keys and at /manage for owners. */
import { alarmEndpoints } from './account/alarms.js';
import { keyEndpoints } from './account/api-keys.js';
import { verifyKey } from './account/account.js';
import { figureEndpoints } from './account/figures.js';
import { overviewEndpoints } from './account/overview.js';
import { ownerEndpoints } from './account/owner.js';
import { getReceipt, listReceipts, showKeys } from './account/receipts.js';
import { usageEndpoints } from './account/usage.js';
import { connectionEndpoints } from './connections/connections.js';
import { healthEndpoints } from './connections/health.js';
import { hostKeyEndpoints } from './connections/host-keys.js';
import { keyPairEndpoints } from './connections/key-pairs.js';
import { testEndpoints } from './connections/test.js';
import type { DescribedRoute, Endpoint } from './endpoint.js';
import { eventEndpoints } from './events/events.js';
import { feedEndpoints } from './events/feed.js';
import { webhookSecretEndpoints } from './events/webhook-secret.js';
import { webhookEndpoints } from './events/webhooks.js';
import { appendToFile } from './files/append.js';
import { copyFile } from './files/copy.js';
import { deleteFile } from './files/delete.js';
import { downloadFile } from './files/download.js';
import { runCommand } from './files/exec.js';
import { findFile } from './files/exists.js';
import { listFolder } from './files/list.js';
import { makeFolder } from './files/mkdir.js';
import { moveFile } from './files/move.js';
import { readFile } from './files/read.js';
import { uploadFile } from './files/upload.js';
import { writeFile } from './files/write.js';
import { jobEndpoints } from './jobs/jobs.js';
import { scheduleEndpoints } from './jobs/schedules.js';
import { linkEndpoints } from './links/links.js';
import { linkUploadEndpoints } from './links/uploads.js';
import { linkUseEndpoints } from './links/use.js';
import { credentialEndpoints } from './login/credentials.js';
import { sessionEndpoints } from './login/sessions.js';
import { repetitionOf } from './repetition.js';
import { sandboxEndpoints } from './sandbox/webhooks.js';
import type { Services } from './services.js';
import { health, type MetricsServices, readiness, type ReadyServices, showMetrics } from './system/probes.js';
import { historyEndpoints } from './transfers/history.js';
import { repetitionEndpoints } from './transfers/again.js';
import { liveTransferEndpoints } from './transfers/live.js';
import {
  beginUpload,
  describeUploads,
  endUpload,
  goOnWithUpload,
  lookAtUpload,
  tunnelUpload,
} from './uploads/uploads.js';
import { attemptEndpoints } from './watched-folders/attempts.js';
import { checkEndpoints } from './watched-folders/checks.js';
import { deliveryEndpoints } from './watched-folders/deliveries.js';
import { watchedFolderEndpoints } from './watched-folders/watched-folders.js';

const endpoints: readonly Endpoint<Services>[] = [
  ...[uploadFile, describeUploads, beginUpload, lookAtUpload, goOnWithUpload, endUpload, tunnelUpload],
  ...[downloadFile, copyFile, readFile, writeFile, deleteFile, moveFile, makeFolder, listFolder, findFile, runCommand],
  appendToFile,
  ...[verifyKey, getReceipt, listReceipts, showKeys],
  ...[...sessionEndpoints, ...credentialEndpoints],
  ...[...ownerEndpoints, ...overviewEndpoints, ...figureEndpoints, ...usageEndpoints, ...alarmEndpoints],
  ...[...connectionEndpoints, ...testEndpoints, ...healthEndpoints, ...hostKeyEndpoints, ...keyPairEndpoints],
  ...keyEndpoints,
  // Before the one with an id: the first match is used.
  ...[...liveTransferEndpoints, ...historyEndpoints, ...repetitionEndpoints],
  ...[...watchedFolderEndpoints, ...checkEndpoints, ...attemptEndpoints, ...deliveryEndpoints],
  ...[...jobEndpoints, ...scheduleEndpoints],
  ...[...eventEndpoints, ...feedEndpoints, ...webhookEndpoints, ...webhookSecretEndpoints, ...sandboxEndpoints],
  ...[...linkEndpoints, ...linkUseEndpoints, ...linkUploadEndpoints],
];

export function apiRoutes(services: Services): DescribedRoute[] {
  return endpoints.map(({ route, repeats }) => ({
    ...route(services),
    ...(repeats === undefined ? {} : repetitionOf(services, repeats)),
  }));
}

/** Endpoints for operators and probes: liveness, readiness, metrics. */
export function systemRoutes(
  services: ReadyServices & (MetricsServices | { readonly metrics: undefined }),
): DescribedRoute[] {
  return [
    health.route(services),
    readiness.route(services),
    ...(services.metrics === undefined ? [] : [showMetrics.route(services)]),
  ];
}
