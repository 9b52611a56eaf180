/** The table of the endpoints of watched folders; docs/manage-api.md describes each. */
import { newWatchedFolder as watchedFolderBody } from '../watched-folders/create.js';
import { watchedFolderChanges } from '../watched-folders/edit.js';
import type { Route } from '../../http/types.js';
import { rowsOf } from './rows.js';
import * as schemas from './schemas.js';
import type { ManageServices } from './services.js';
import * as folders from './watched-folders.js';

export function watchRoutes(services: ManageServices): Route[] {
  const { get, post, patch, remove } = rowsOf(services);
  return [
    get('watched-folders', folders.listFolders),
    post('watched-folders', folders.createFolder, watchedFolderBody),
    get('watched-folders/:id', folders.showFolder),
    patch('watched-folders/:id', folders.editFolder, watchedFolderChanges),
    remove('watched-folders/:id', folders.deleteFolder),
    post('watched-folders/:id/pause', folders.switchFolder('pause')),
    post('watched-folders/:id/resume', folders.switchFolder('resume')),
    post('watched-folders/:id/check', folders.checkFolder),
    post('watched-folders/:id/dry-run', folders.dryRunFolder),
    get('watched-folders/:id/files', folders.listFiles, schemas.knownFilesQuery),
    post('watched-folders/:id/forget', folders.forgetFiles, schemas.forgetBody),
    get('watched-folders/:id/checks', folders.listChecks),
    get('watched-folders/:id/checks/:checkId', folders.showCheck),
    get('watched-folders/:id/secret', folders.showSecret),
    post('watched-folders/:id/secret/rotate', folders.rotateSecret),
    post('watched-folders/:id/test-event', folders.sendTestEvent),
    get('deliveries', folders.listDeliveries, schemas.deliveriesQuery),
    get('deliveries/:id/attempts', folders.listAttempts),
    post('deliveries/:id/replay', folders.replayDelivery),
  ];
}
