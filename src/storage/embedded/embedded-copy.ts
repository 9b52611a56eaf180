/** Copies the programs for a user who cannot reach the package. */
import { access, constants, cp, rename } from 'node:fs/promises';
import path from 'node:path';
import { draftFolderOf, removeDeadDrafts, removeDraft } from './embedded-folder.js';

export interface Package {
  readonly native: string;
  readonly version: string;
}

/** Copies the programs into dataDir, completely or not at all, unless they are there. */
export async function copyNative({ native, version }: Package, dataDir: string): Promise<string> {
  const target = path.join(dataDir, `postgres-programs-${version}`);
  await removeDeadDrafts(target);
  if (await exists(target)) return target;
  const draft = draftFolderOf(target);
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  await rename(draft, target).catch(async (error: unknown) => {
    // Another process was faster: its copy is the same.
    await removeDraft(draft);
    if (!(await exists(target))) throw error;
  });
  return target;
}

export async function exists(file: string): Promise<boolean> {
  return access(file, constants.F_OK).then(
    () => true,
    () => false,
  );
}
