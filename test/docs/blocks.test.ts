/** Every code block of every page is executed, checked, or listed here with a reason. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CHECKS } from './checks.js';
import { blocksOf, PAGES, ROOT, type Snippet } from './snippets.js';

/** The test that executes a page's blocks; recipes.test.ts has the pages of docs/integrate/recipes. */
const EXECUTED_BY: Readonly<Record<string, string>> = {
  'README.md': 'test/docs/newcomer.test.ts',
  'docs/integrate/cli.md': 'test/cli/docs.test.ts',
  'docs/start/quick-start.md': 'test/docs/newcomer.test.ts',
  'docs/operate/backup.md': 'test/docs/backup.test.ts',
  'docs/integrate/agents.md': 'test/mcp/mcp.test.ts',
  'docs/integrate/s3-front.md': 'test/s3/tools/page.test.ts',
  ...Object.fromEntries(
    [
      'authentication',
      'upload',
      'download',
      'read-write-append',
      'folders',
      'copy-move-delete',
      'exec',
      'history',
      'resumable-uploads',
      'jobs',
      'watched-folders',
      'events',
      'links',
      'retries',
      'sandbox',
      'clients/typescript',
      'moving/rclone',
      'moving/winscp',
      'moving/aws-transfer',
      'moving/n8n-ftp',
      'clients/python',
    ].map((name) => [`docs/integrate/${name}.md`, 'test/docs/recipes.test.ts']),
  ),
  'src/cli/README.md': 'test/release/installed.test.ts',
  'src/client/README.md': 'test/release/installed.test.ts',
};

/** By page and first line. An entry without a block on the page also fails. */
const NEITHER: readonly { readonly page: string; readonly begins: string; readonly because: string }[] = [
  ...['docs/integrate/authentication.md', 'docs/integrate/sandbox.md', 'docs/integrate/recipes/curl.md'].map(
    (page) => ({
      page,
      begins: 'export GATEWAY=http://127.0.0.1:8080',
      because: "the reader's own address and key; the tests set these two variables to theirs",
    }),
  ),
];

const firstLine = ({ code }: Snippet): string => code.split('\n')[0] ?? '';
const listed = (block: Snippet): boolean =>
  NEITHER.some(({ page, begins }) => page === block.page && begins === firstLine(block));

/** Nothing to type. */
const DRAWINGS: readonly string[] = ['text', 'mermaid'];

/** The mistake in the fence, or undefined. */
function complaint(block: Snippet): string | undefined {
  const { page, language, words } = block;
  const [what, name = ''] = words;
  if (what === 'run') {
    const isExecuted = page in EXECUTED_BY || page.startsWith('docs/integrate/recipes/');
    return isExecuted ? undefined : 'no test executes the blocks of this page';
  }
  if (what === 'check') return name in CHECKS ? undefined : `there is no check "${name}"`;
  if (what === undefined && (DRAWINGS.includes(language) || listed(block))) return undefined;
  return 'neither executed nor checked nor on the list';
}

for (const page of PAGES) {
  test(`${page}: every block is executed, checked or listed`, () => {
    const wrong = blocksOf(page).flatMap((block) => {
      const said = complaint(block);
      return said === undefined ? [] : [`${page}:${block.line}: ${said}`];
    });
    assert.deepEqual(wrong, []);
  });

  for (const { line, words, code } of blocksOf(page).filter((block) => block.words[0] === 'check')) {
    test(`${page}:${line} is held to ${words[1]}`, () => CHECKS[words[1] ?? '']?.(code));
  }
}

test('the tests that execute pages do so, and the list names existing blocks', () => {
  for (const [page, file] of Object.entries(EXECUTED_BY)) {
    assert.ok(existsSync(join(ROOT, file)), file);
    assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(`'${page}'`), `${file} names ${page}`);
    assert.ok(
      blocksOf(page).some(({ words }) => words[0] === 'run'),
      page,
    );
  }
  for (const { page, begins, because } of NEITHER) {
    assert.ok(
      blocksOf(page).some((block) => firstLine(block) === begins),
      `${page}: ${begins}`,
    );
    assert.ok(because.length > 20);
  }
});

test('a block without a check is found, and so is a wrong one', async () => {
  const block = { page: 'docs/integrate/errors.md', line: 1, language: 'sh', words: [], code: 'true\n' };
  assert.match(complaint(block) ?? '', /neither/);
  assert.match(complaint({ ...block, words: ['run'] }) ?? '', /no test/);
  assert.match(complaint({ ...block, words: ['check', 'nothing'] }) ?? '', /no check/);
  const wrong: Readonly<Record<string, string>> = {
    cli: 'ftg nothing here\n',
    curl: 'curl -sS "$GATEWAY/api/nothing"\n',
    start: 'NOTHING=1 npm start\n',
    configuration: 'server: { prot: 8080 }\n',
    rotate: 'node dist/bundle/main.js rotate-nothing\n',
    'api/AccountInfo': '{ "email": "…" }',
    deploy: 'docker build -f config/deploy/nothing .\n',
    scripts: 'npm run nothing\n',
    release: 'npm install ./file-transfer-gateway-0.9.0.tgz\n',
    bench: 'npm run bench -- nothing\n',
    banner: 'Another Gateway serves\n',
    prometheus: 'scrape_configs: [{ job: a }]\n',
    traces: 'OTEL_EXPORTER_OTLP_PROTOCOL=grpc\nOTEL_TRACES_EXPORTER=otlp\n',
    'Server-Timing': 'Server-Timing: queue=1\n',
    n8n: 'return [{ json: { name: "orders.csv" } }];',
    mcp: '{ "mcpServers": { "files": { "command": "ftg", "args": ["serve"] } } }',
    zapier: 'output = [{ name: "orders.csv" }];',
    'webhook/FilesDetectedEvent': '{ "type": "watched_folder.files_detected" }',
    'manage/Usage': '{ "plan": "…", "unknown": 1 }',
  };
  for (const [name, code] of Object.entries(wrong)) {
    await assert.rejects(async () => CHECKS[name]?.(code), name);
  }
});
