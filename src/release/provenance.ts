/** How a release was made: an in-toto statement with a SLSA provenance. Unsigned; its publisher signs it. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './places.js';

const run = promisify(execFile);

export async function provenance(sums: ReadonlyMap<string, string>): Promise<string> {
  const subject = [...sums].map(([name, sha256]) => ({ name, digest: { sha256 } }));
  const [commit, changes, npm] = await Promise.all([
    said('git', 'rev-parse', 'HEAD'),
    said('git', 'status', '--porcelain'),
    said('npm', '--version'),
  ]);
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:file-transfer-gateway:npm-run-pack:1',
        externalParameters: { command: 'npm ci && npm run pack' },
        internalParameters: {
          node: process.version,
          npm,
          platform: `${process.platform}-${process.arch}`,
          // Made from uncommitted files: for tests, not for publishing.
          hasUncommittedChanges: commit === undefined || changes !== '',
        },
        resolvedDependencies: [
          ...(commit === undefined ? [] : [{ name: 'source', digest: { gitCommit: commit } }]),
          { name: 'package-lock.json', digest: { sha256: lock } },
        ],
      },
      runDetails: {
        builder: { id: 'urn:file-transfer-gateway:local' },
        metadata: { finishedOn: new Date().toISOString() },
      },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

/** The output of a command; undefined without the command, or without a repository. */
async function said(command: string, ...words: readonly string[]): Promise<string | undefined> {
  return run(command, words, { cwd: ROOT }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}
