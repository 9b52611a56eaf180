/** Every endpoint of the API for programs. */
import { getReceipt, listReceipts, showKeys } from './account/receipts.js';
import { listConnections, verifyKey } from './account/account.js';
import { getTransfer, listTransfers } from './account/transfers.js';
import type { DescribedRoute, Endpoint } from './endpoint.js';
import { listEvents } from './events/events.js';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateSecret,
  testWebhook,
} from './events/webhooks.js';
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
import {
  cancelJob,
  createJob,
  getJob,
  listJobFiles,
  listJobs,
  pauseJob,
  resumeJob,
  retryJob,
  watchJob,
} from './jobs/jobs.js';
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  previewSchedule,
  runSchedule,
} from './jobs/schedules.js';
import { createLink, getLink, listLinks, revokeLink } from './links/links.js';
import { openLink, sendToLink } from './links/use.js';
import { repetitionOf } from './repetition.js';
import { listSandboxWebhooks } from './sandbox/webhooks.js';
import type { ApiServices } from './services.js';
import { health, type MetricsServices, readiness, type ReadyServices, showMetrics } from './system/probes.js';
import {
  beginUpload,
  describeUploads,
  endUpload,
  goOnWithUpload,
  lookAtUpload,
  tunnelUpload,
} from './uploads/uploads.js';
import {
  changeWatchedFolder,
  createWatchedFolder,
  deleteWatchedFolder,
  getWatchedFolder,
  listWatchedFolders,
} from './watched-folders/watched-folders.js';

const endpoints: readonly Endpoint<ApiServices>[] = [
  uploadFile,
  describeUploads,
  beginUpload,
  lookAtUpload,
  goOnWithUpload,
  endUpload,
  tunnelUpload,
  downloadFile,
  copyFile,
  readFile,
  writeFile,
  deleteFile,
  moveFile,
  makeFolder,
  listFolder,
  findFile,
  runCommand,
  appendToFile,
  listConnections,
  verifyKey,
  listTransfers,
  getTransfer,
  getReceipt,
  listReceipts,
  showKeys,
  listWatchedFolders,
  createWatchedFolder,
  getWatchedFolder,
  changeWatchedFolder,
  deleteWatchedFolder,
  createJob,
  listJobs,
  getJob,
  listJobFiles,
  pauseJob,
  resumeJob,
  cancelJob,
  retryJob,
  watchJob,
  listSchedules,
  createSchedule,
  previewSchedule,
  getSchedule,
  changeSchedule,
  deleteSchedule,
  runSchedule,
  listEvents,
  listWebhooks,
  createWebhook,
  getWebhook,
  changeWebhook,
  deleteWebhook,
  rotateSecret,
  testWebhook,
  listSandboxWebhooks,
  createLink,
  listLinks,
  getLink,
  revokeLink,
  openLink,
  sendToLink,
];

export function apiRoutes(services: ApiServices): DescribedRoute[] {
  return endpoints.map(({ route, repeats }) => ({
    ...route(services),
    ...(repeats === undefined ? {} : repetitionOf(services, repeats)),
  }));
}

/** What operators and probes ask: is it alive, is it ready, how does it do. */
export function systemRoutes(
  services: ReadyServices & (MetricsServices | { readonly metrics: undefined }),
): DescribedRoute[] {
  return [
    health.route(services),
    readiness.route(services),
    ...(services.metrics === undefined ? [] : [showMetrics.route(services)]),
  ];
}
