/** Changes of watched folders by their owners. */
import type { Transaction } from '../postgres/database.js';
import type { FolderNames, WatchedFolder, WatchSettings } from './watched-folder.js';

export interface FolderEdit {
  readonly settings: WatchSettings;
  readonly isActive: boolean;
  /** The next regular check under the settings. */
  readonly nextCheckAt: (now: Date) => Date;
}

/**
 * Writes the settings; a check that runs writes nothing any more. Another path is another folder: what was known is
 * forgotten, and the next check takes its baseline. Other names keep what is known. Both make the folder due at once.
 */
export async function editFolder(tx: Transaction, former: WatchedFolder, edit: FolderEdit): Promise<void> {
  const { settings, isActive } = edit;
  const [time] = await tx<{ now: Date }[]>`select now() as now`;
  const now = time?.now ?? new Date();
  const isMoved = settings.path !== former.path;
  const hasOtherNames = JSON.stringify(namesOf(settings)) !== JSON.stringify(namesOf(former));
  const isDue = isMoved || hasOtherNames || (isActive && !former.isActive);
  const hasOtherTarget = settings.webhookUrl !== former.webhookUrl;
  const hasOtherTimes = settings.scheduleMinutes !== former.scheduleMinutes;
  const nextCheckAt = isDue ? now : hasOtherTimes ? edit.nextCheckAt(now) : former.nextCheckAt;
  await tx`
    update watched_folders set name = ${settings.name}, path = ${settings.path},
      file_pattern = ${settings.filePattern}, exclude_pattern = ${settings.excludePattern},
      done_file = ${settings.doneFile}, schedule_minutes = ${settings.scheduleMinutes},
      webhook_url = ${settings.webhookUrl}, detect_modified = ${settings.detectModified},
      recursive = ${settings.recursive}, initial = ${settings.initial}, min_age_seconds = ${settings.minAgeSeconds},
      after_delivery = ${settings.afterDelivery}, move_to = ${settings.moveTo},
      expect_every_minutes = ${settings.expectEveryMinutes}, is_active = ${isActive}, check_id = null,
      next_check_at = ${nextCheckAt}, is_follow_up = false,
      baseline_at = case when ${isMoved} then null else baseline_at end,
      former_names = case when ${isMoved} then null
        when ${hasOtherNames} then coalesce(former_names, ${tx.json(namesOf(former))}::jsonb)
        else former_names end,
      deliveries_ended_at = case when ${hasOtherTarget} then null else deliveries_ended_at end
    where id = ${former.id}`;
  if (isMoved) await tx`delete from watched_files where folder_id = ${former.id}`;
  if (settings.webhookUrl !== null) return;
  await tx`
    update webhook_events set state = 'cancelled', next_attempt_at = null
    where folder_id = ${former.id} and state = 'pending'`;
}

export function namesOf({ filePattern, excludePattern, doneFile, recursive }: FolderNames): FolderNames {
  return { filePattern, excludePattern, doneFile, recursive };
}
