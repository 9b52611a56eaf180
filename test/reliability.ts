/**
 * Writes docs/reliability.md from a run of the tests that record cases: all of them, or those whose path contains one
 * of the arguments; the rows of the others are kept, and so is the text before them. Nothing is written if a test
 * fails.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  documentedCases,
  documentOf,
  DOCUMENT,
  RECORD_VARIABLE,
  recordsCases,
  sameCase,
  type RecordedCase,
} from './support/reliability.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const recording = recordingFiles();
const chosen = recording.filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
if (chosen.length === 0) throw new Error(`no test that records cases matches: ${wanted.join(' ')}`);
const cases = runAndRecord(chosen);
const kept = documentedCases().filter(({ file }) => recording.includes(file) && !chosen.includes(file));
writeFileSync(DOCUMENT, documentOf([...kept, ...cases]));
console.log(`\n${DOCUMENT}: ${cases.length} cases of this run, ${kept.length} of earlier ones`);

/** Test files that record cases, by their names in the sources. */
function recordingFiles(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js') && recordsCases(readFileSync(path.join(folder, name), 'utf8')))
    .map((name) => name.replace(/\.js$/, '.ts'))
    .sort();
}

function runAndRecord(files: readonly string[]): RecordedCase[] {
  const temporary = mkdtempSync(path.join(tmpdir(), 'ftg-reliability-'));
  const record = path.join(temporary, 'cases');
  writeFileSync(record, '');
  try {
    const names = files.map((file) => file.replace(/\.ts$/, '.js'));
    const { status } = spawnSync(process.execPath, ['--enable-source-maps', path.join(folder, 'run.js'), ...names], {
      env: { ...process.env, [RECORD_VARIABLE]: record },
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error('a test failed; the document stays as it is');
    const lines = readFileSync(record, 'utf8').split('\n').filter(Boolean);
    return summed(lines.map((line) => JSON.parse(line) as RecordedCase));
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

function summed(all: readonly RecordedCase[]): RecordedCase[] {
  const found: RecordedCase[] = [];
  for (const one of all) {
    const index = found.findIndex((other) => other.file === one.file && sameCase(other, one));
    const other = found[index];
    if (other === undefined) found.push(one);
    else found[index] = { ...other, tries: other.tries + one.tries };
  }
  return found;
}
