/** The commands and snippets of the pages work as written, on a live gateway. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import ts from 'typescript';
import { stageClient } from '../../src/release/client.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { PATIENCE_MS } from '../support/eventually.js';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { PAGES, ROOT, snippetsOf, type Snippet } from './snippets.js';

const run = promisify(execFile);
const ADMIN_KEY = 'ftg_admin-key-of-the-pages-012345';
/** Its blocks write the small files (`ftg.sh`, `ftg.mjs`, `ftg.py`) that the other pages use. */
const SETUP = 'docs/integrate/authentication.md';
const EXECUTED = [
  'docs/integrate/upload.md',
  'docs/integrate/download.md',
  'docs/integrate/read-write-append.md',
  'docs/integrate/folders.md',
  'docs/integrate/copy-move-delete.md',
  'docs/integrate/exec.md',
  'docs/integrate/history.md',
  'docs/integrate/resumable-uploads.md',
  'docs/integrate/jobs.md',
  'docs/integrate/links.md',
  'docs/integrate/watched-folders.md',
  'docs/integrate/events.md',
  'docs/integrate/retries.md',
  'docs/integrate/sandbox.md',
  'docs/integrate/moving/rclone.md',
  'docs/integrate/moving/winscp.md',
  'docs/integrate/moving/aws-transfer.md',
  'docs/integrate/moving/n8n-ftp.md',
  'docs/integrate/clients/typescript.md',
  'docs/integrate/clients/python.md',
  ...PAGES.filter((page) => page.startsWith('docs/integrate/recipes/')),
];
/** Pages for tools that cannot run here show requests; curl makes them instead. */
const LANGUAGES = ['sh', 'python', 'js', 'ts'];
/** Debian's Python, which has httpx; an earlier python3 in the path may lack it. */
const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
/** The Python client from the sources, instead of an installed one. */
const PYTHONPATH = join(ROOT, 'src/python');

/** The connection `warehouse` of the pages: a server with a shell, and the files that the pages expect. */
let warehouse: TestServer;
let gateway: TestGateway;
/** Serves as `https://files.example.com` of the pages. */
let files: Server;
let folder: string;

before(async () => {
  warehouse = await SFTP_SERVERS[0]!.start();
  await warehouse.disk.write('/upload/report.pdf', 'PDF');
  await warehouse.disk.write('/incoming/former.csv', 'a;b');
  files = createServer((_, response) => response.end('PDF')).listen(0, '127.0.0.1');
  await once(files, 'listening');
  gateway = await startGateway({
    connections: [{ id: 'warehouse', name: 'Warehouse', ...warehouse.connection }],
    apiKeys: [
      { name: 'test', key: KEY, scopes: ['read', 'write', 'exec', 'watch'] },
      { name: 'admin', key: ADMIN_KEY, scopes: ['read', 'write', 'watch', 'admin'] },
    ],
    config: {
      sandbox: true,
      watcher: { settleMs: 200 },
      network: { webhooks: { allow: ['127.0.0.1/32'] }, urlFetch: { allow: ['127.0.0.1/32'] } },
    },
  });
  folder = mkdtempSync(join(tmpdir(), 'ftg-docs-'));
  // For `import … from 'file-transfer-gateway-client'`, and from the gateway's own package, as when they are installed.
  mkdirSync(join(folder, 'node_modules'));
  await stageClient(join(folder, 'node_modules', 'file-transfer-gateway-client'));
  symlinkSync(ROOT, join(folder, 'node_modules', 'file-transfer-gateway'));
  symlinkSync(join(ROOT, 'node_modules', '@types'), join(folder, 'node_modules', '@types'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});

after(async () => {
  await gateway.stop();
  files.close();
  await warehouse.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function execute({ page, line, language, code: written }: Snippet, cwd: string): Promise<string> {
  const code = written.replaceAll(
    'https://files.example.com',
    `http://127.0.0.1:${(files.address() as AddressInfo).port}`,
  );
  const name = `${page.replace(/\W/g, '-')}-${line}`;
  const env = { ...process.env, GATEWAY: gateway.url, KEY, ADMIN_KEY, FTG_URL: gateway.url, FTG_KEY: KEY, PYTHONPATH };
  const options = { cwd, env, timeout: PATIENCE_MS };
  if (language === 'sh') return (await run('bash', ['-euo', 'pipefail', '-c', code], options)).stdout;
  if (language === 'python') return (await run(PYTHON, ['-c', code], options)).stdout;
  if (language === 'js') {
    const script = join(cwd, `${name}.mjs`);
    writeFileSync(script, code);
    return (await run(process.execPath, [script], options)).stdout;
  }
  const program = join(cwd, `${name}.js`);
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
  writeFileSync(program, ts.transpileModule(code, { compilerOptions }).outputText);
  return (await run(process.execPath, [program], options)).stdout;
}

/**
 * A reader's own compiler must also accept the snippets. All are compiled at once: their imports take most of the time.
 */
function assertTypes(snippets: readonly Snippet[], cwd: string): void {
  const files = snippets
    .filter(({ language }) => language === 'ts')
    .map(({ line, code }) => {
      const file = join(cwd, `line-${line}.ts`);
      writeFileSync(file, code);
      return file;
    });
  if (files.length === 0) return;
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  };
  const problems = ts.getPreEmitDiagnostics(ts.createProgram(files, options));
  assert.deepEqual(
    problems.map(({ file, messageText }) => {
      return `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    }),
    [],
  );
}

for (const page of [SETUP, ...EXECUTED]) {
  const snippets = snippetsOf(page);
  test(`${page}: ${snippets.length} snippets run`, async () => {
    assert.ok(snippets.length > 0, 'nothing on this page is run');
    const cwd = join(folder, page.replace(/\W/g, '-'));
    mkdirSync(cwd);
    if (page !== SETUP) copySetup(cwd);
    assertTypes(snippets, cwd);
    for (const snippet of snippets) {
      assert.ok(LANGUAGES.includes(snippet.language), snippet.language);
      await execute(snippet, cwd).catch((error: Error & { stdout?: string; stderr?: string }) => {
        assert.fail(`${page}:${snippet.line}: ${error.message}\n${error.stdout ?? ''}\n${error.stderr ?? ''}`);
      });
    }
  });
}

/** A reader has these files from the first page on. */
function copySetup(cwd: string): void {
  for (const name of ['ftg.sh', 'ftg.mjs', 'ftg.py'])
    copyFileSync(join(folder, SETUP.replace(/\W/g, '-'), name), join(cwd, name));
}

test('a snippet that fails is seen', async () => {
  const cwd = join(folder, 'failing');
  mkdirSync(cwd);
  const broken = (language: string, code: string): Promise<string> =>
    execute({ page: 'x', line: 1, language, words: ['run'], code }, cwd);
  await assert.rejects(broken('sh', 'curl -fsS "$GATEWAY/api/nothing" | cat'));
  await assert.rejects(broken('python', 'raise SystemExit(1)'));
  await assert.rejects(broken('js', 'throw new Error("x");'));
  await assert.rejects(broken('ts', 'throw new Error("x");'));
  const mistyped = { page: 'x', line: 1, language: 'ts', words: ['run'], code: 'const text: number = "x";' };
  assert.throws(() => assertTypes([mistyped], cwd), /not assignable/);
});

test('every endpoint of the document is on the page for integrators', async () => {
  const { paths } = (await gateway.api.get('/openapi.json')).json as { readonly paths: Record<string, object> };
  const text = readFileSync(`${ROOT}docs/integrate/api.md`, 'utf8');
  for (const path of Object.keys(paths)) assert.ok(text.includes(path), path);
});
