/** Loads several test files in one process, which an entry file that the runner writes calls: modules load once for all of them. */
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

/** Absolute paths. Each file is a suite that has its path for a name, so that its hooks end with it. */
export async function runTogether(files: readonly string[]): Promise<void> {
  for (const file of files) {
    await new Promise<void>((loaded) => {
      void describe(file, async () => {
        try {
          await import(pathToFileURL(file).href);
        } finally {
          loaded();
        }
      });
    });
  }
}
