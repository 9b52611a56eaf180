/**
 * A program: `npm run cost`. Measures the cost of one more field, error or kind: makes and checks each in a copy of the
 * project.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { changedFiles, linesOf, type Recipe, RECIPES } from './recipes.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

export interface Cost {
  readonly change: string;
  readonly files: readonly string[];
  readonly lines: number;
  readonly most: number;
  /** Places where it should appear and does not. */
  readonly missing: readonly string[];
}

/** All changes at once. Rejects where the changed project does not compile. */
export async function costs(recipes: readonly Recipe[] = RECIPES): Promise<readonly Cost[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cost-'));
  try {
    await copyProject(folder);
    const changes = recipes.map((recipe) => {
      const files = changedFiles(recipe, folder);
      for (const [file, text] of files) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), text);
      }
      return { recipe, files: [...files.keys()] };
    });
    const node = (...words: readonly string[]) => run(process.execPath, words, { cwd: folder, maxBuffer: 1 << 26 });
    await node('build.js', 'modules');
    await node('build.js', 'dashboard');
    await node('build.js', 'clients');
    const tsc = join(folder, 'node_modules/typescript-native/bin/tsc');
    for (const project of ['tsconfig.json', 'src/dashboard/web/tsconfig.json']) {
      await node(tsc, '--singleThreaded', '--noEmit', '-p', project).catch((error: unknown) => {
        throw new Error(`it does not compile: ${(error as { readonly stdout: string }).stdout.slice(0, 4000)}`);
      });
    }
    await node('--test', '--test-name-pattern=has examples, and each keeps', 'dist/test/api/openapi/document.test.js');
    const { stdout } = await node('dist/test/contract/appears.js');
    const places = JSON.parse(stdout) as Readonly<Record<string, Readonly<Record<string, boolean>>>>;
    return changes.map(({ recipe, files }) => ({
      change: recipe.change,
      files,
      lines: linesOf(recipe),
      most: recipe.most,
      missing: Object.entries(places[recipe.name] ?? {}).flatMap(([place, isThere]) => (isThere ? [] : [place])),
    }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The work tree, with uncommitted changes, and without the output of the build. */
async function copyProject(folder: string): Promise<void> {
  const listed = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 1 << 26,
  });
  const { stdout: deleted } = await run('git', ['ls-files', '-z', '--deleted'], { cwd: ROOT });
  const gone = new Set(deleted.split('\0'));
  for (const file of listed.stdout.split('\0').filter((name) => name !== '' && !gone.has(name))) {
    cpSync(join(ROOT, file), join(folder, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { change, files, lines, most, missing } of await costs()) {
    console.log(`${change}: ${files.length} files (at most ${most}), ${lines} lines`);
    for (const file of files) console.log(`  ${file}`);
    for (const place of missing) console.log(`  it is missing in: ${place}`);
    if (files.length > most || missing.length > 0) process.exitCode = 1;
  }
}
