/** The Python package: generated from its sources, typed, in the syntax of Python 3.9, and packed as a wheel. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { blocksOf, ROOT } from '../docs/snippets.js';
import { MYPY, PYTHON, pythonEnvironment, SOURCE } from './python.js';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'ftg-python-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function python(code: string, ...words: string[]): Promise<string> {
  return (await run(PYTHON, ['-c', code, ...words], { cwd: SOURCE, env: pythonEnvironment() })).stdout;
}

test('mypy finds no error in the package or in code that uses it', async () => {
  const cache = ['--cache-dir', join(folder, 'mypy')];
  const { stdout } = await run(MYPY, [...cache, '-p', 'file_transfer_gateway'], { cwd: SOURCE });
  assert.match(stdout, /^Success: /);
  const use = [
    'from file_transfer_gateway import FileTransferGateway, AsyncFileTransferGateway',
    'with FileTransferGateway("http://x", "k") as ftg:',
    '    reveal_type([file["size"] for file in ftg.list_all("c")])',
    '    with ftg.download("c", "/x") as download:',
    '        reveal_type([chunk for chunk in download])',
    '    for event in ftg.events.follow():',
    '        if event["type"] == "job.finished":',
    '            reveal_type(event["data"]["job"]["counts"]["done"])',
    '    ftg.jobs.create({"type": "copie", "source": {"connectionId": "c", "path": "/"}})',
  ].join('\n');
  writeFileSync(join(folder, 'use.py'), use);
  writeFileSync(
    join(folder, 'readme.py'),
    blocksOf('src/python/README.md')
      .map(({ code }) => code)
      .join('\n'),
  );
  const env = { ...process.env, MYPYPATH: SOURCE };
  const checked = run(MYPY, [...cache, '--strict', 'use.py', 'readme.py'], { cwd: folder, env });
  const { stdout: complaints } = await checked.catch((failed: { stdout: string }) => failed);
  for (const type of ['builtins.list[builtins.int]', 'builtins.list[builtins.bytes]', 'builtins.int'])
    assert.ok(complaints.includes(`"${type}"`), complaints);
  assert.match(complaints, /error: .*"type".*\nFound 1 error/);
});

test('the package has the syntax of Python 3.9', async () => {
  const code = [
    'import ast, pathlib',
    'for file in pathlib.Path(".").rglob("*.py"):',
    '    ast.parse(file.read_text(), feature_version=(3, 9)); print(file)',
  ].join('\n');
  assert.ok((await python(code)).split('\n').length > 30);
  await assert.rejects(python('import ast; ast.parse("match x:\\n  case 1: pass", feature_version=(3, 9))'));
});

test('the wheel installs without network access, and contains its types and its licence', async () => {
  const wheels = join(folder, 'wheels');
  await run('npm', ['run', '-s', 'pack:python', '--', wheels], { cwd: ROOT, env: { ...process.env, PYTHON } });
  const [wheel = '', ...others] = readdirSync(wheels);
  assert.match(wheel, /^file_transfer_gateway-\d+\.\d+\.\d+-py3-none-any\.whl$/);
  assert.deepEqual(others, []);
  const venv = join(folder, 'venv');
  await run(PYTHON, ['-m', 'venv', '--system-site-packages', venv]);
  await run(join(venv, 'bin', 'pip'), ['install', '--no-index', '--quiet', join(wheels, wheel)]);
  const code = [
    'import file_transfer_gateway as ftg, importlib.metadata as m, pathlib',
    'files = {str(f).rpartition("/")[2] for f in m.files("file-transfer-gateway")}',
    'assert {"py.typed", "LICENSE", "types.py"} <= files, files',
    'print(ftg.__file__, m.version("file-transfer-gateway"), ftg.FileTransferGateway("http://x", "k"))',
  ].join('\n');
  const { stdout } = await run(join(venv, 'bin', 'python'), ['-c', code], { cwd: folder });
  assert.ok(stdout.startsWith(venv), stdout);
});
