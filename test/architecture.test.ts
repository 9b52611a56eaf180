/** The shape of the program: who may import whom. Failing looks like an arrow back, which makes every later change wider. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));
const MAX_LINES = 450;
/** Nobody reads what a program wrote. */
const GENERATED = ['client/api-types.ts', 'client/management-types.ts'];

/** Every part and what it may import; `errors`, `caller`, `span`, `passing-set`, `globs`, `nearest-name` and `private-key-bounds` are everybody's. Files at the top are parts of their own. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  main: ['rotate-keys', 'config', 'lifecycle', 'observe', 'gateway', 'gateway-types', 'allocator', 'collector'],
  'rotate-keys': ['config', 'lifecycle', 'storage'],
  lifecycle: ['last-resort', 'config', 'gateway-types', 'observe', 'storage'],
  gateway: ['*'],
  threads: ['serving', 'started', 'config', 'http', 'observe', 'pools', 'storage'],
  serving: [
    'dashboard',
    'manage',
    'openapi',
    'api',
    'http',
    'transfers',
    'watch',
    'webhooks',
    'remotes',
    'pools',
    'storage',
    'workers',
    'budgets',
    'resolver',
    'observe',
    'config',
    'started',
  ],
  started: ['observe'],
  'quick-start': ['config', 'sandbox', 'storage'],
  'gateway-types': ['config', 'observe'],
  dashboard: ['http'],
  api: ['http', 'transfers', 'watch', 'remotes', 'storage', 'workers', 'observe', 'config'],
  manage: ['api', 'http', 'transfers', 'watch', 'remotes', 'storage', 'budgets', 'config'],
  openapi: ['api', 'http', 'manage'],
  client: [],
  // `main` is for `ftg serve` alone; all else goes over HTTP.
  cli: ['client', 'main'],
  transfers: ['remotes', 'storage', 'budgets'],
  watch: ['webhooks', 'remotes', 'storage', 'config'],
  webhooks: ['remotes', 'storage'],
  remotes: ['pools', 'budgets', 'resolver'],
  resolver: ['budgets'],
  pools: ['budgets'],
  budgets: [],
  http: ['budgets'],
  sandbox: [],
  storage: ['budgets', 'config'],
  workers: [],
  observe: ['config'],
  config: [],
  allocator: [],
  collector: [],
  'last-resort': [],
  errors: [],
  caller: [],
  span: [],
  'passing-set': [],
  'nearest-name': [],
  globs: [],
  'private-key-bounds': [],
};

const EVERYBODYS: readonly string[] = [
  'errors',
  'caller',
  'span',
  'passing-set',
  'globs',
  'nearest-name',
  'private-key-bounds',
];

/** Shapes alone, which vanish when the program is built. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  // The router is given accounts and stored answers as these interfaces; it cannot reach a database.
  http: ['storage'],
  // A registered connection is stored, and configured, in the shape in which the protocols take it.
  storage: ['remotes'],
  config: ['remotes'],
};

/** Libraries that one place alone knows. */
const OWNERS: readonly (readonly [library: RegExp, owner: RegExp])[] = [
  [/^uWebSockets\.js/, /^(http\/native\/|threads\/calls)/],
  [/^ssh2$/, /^(remotes\/sftp|sandbox)\//],
  [/^basic-ftp$/, /^remotes\/ftp\//],
  [/^@(aws-sdk|smithy)\//, /^remotes\/s3\//],
  [/^(postgres|postgrator|pg-boss)$/, /^storage\//],
  [/^piscina$/, /^workers\//],
  [/^@opentelemetry\//, /^observe\/tracing\.ts$/],
  [/^prom-client$/, /^observe\/metrics\.ts$/],
  [/^(commander|cli-table3)$/, /^cli\//],
];

interface Import {
  readonly file: string;
  readonly target: string;
  readonly isType: boolean;
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
  // The dashboard's page is a program of its own: it runs in the browser and knows the gateway by HTTP alone.
  (name) => name.endsWith('.ts') && !name.startsWith('dashboard/web/'),
);
const imports = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const found: Import[] = [];
  const text = readFileSync(join(SOURCE, file), 'utf8');
  const add = (specifier: ts.Expression | undefined, isType: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return;
    const { text: name } = specifier;
    const target = name.startsWith('.') ? normalize(join(dirname(file), name)).replace(/\.js$/, '.ts') : name;
    found.push({ file, target, isType });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings;
      const isTypes =
        bindings !== undefined &&
        ts.isNamedImports(bindings) &&
        node.importClause?.name === undefined &&
        bindings.elements.every(({ isTypeOnly }) => isTypeOnly);
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword || isTypes);
    } else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

const partOf = (file: string): string =>
  file.includes('/') ? file.slice(0, file.indexOf('/')) : file.replace(/\.ts$/, '');
const isOurs = ({ target }: Import): boolean => target.endsWith('.ts');

test('imports point one way', () => {
  assert.ok(imports.length > 300, 'the imports were not found');
  const wrong = imports.filter(isOurs).filter(({ file, target, isType }) => {
    const [from, to] = [partOf(file), partOf(target)];
    if (from === to || EVERYBODYS.includes(to)) return false;
    const allowed = [...(MAY_IMPORT[from] ?? []), ...(isType ? (MAY_IMPORT_TYPES[from] ?? []) : [])];
    return !allowed.includes('*') && !allowed.includes(to);
  });
  assert.deepEqual(wrong, []);
});

test('every part is known to this test', () => {
  assert.deepEqual(
    [...new Set(files.map(partOf))].filter((part) => MAY_IMPORT[part] === undefined),
    [],
  );
});

test('the protocols do not know each other, and only the registry lists them', () => {
  const protocolOf = (file: string): string | undefined => /^remotes\/(sftp|ftp|s3)\//.exec(file)?.[1];
  const wrong = imports.filter(isOurs).filter(({ file, target }) => {
    const to = protocolOf(target);
    return (
      to !== undefined && to !== protocolOf(file) && !['remotes/registry.ts', 'gateway.ts', 'serving.ts'].includes(file)
    );
  });
  assert.deepEqual(wrong, []);
});

test('a library has one owner', () => {
  for (const [library, owner] of OWNERS) {
    const users = imports.filter(({ target }) => library.test(target));
    assert.ok(users.length > 0, `${library.source} is imported nowhere`);
    assert.deepEqual(
      users.filter(({ file }) => !owner.test(file)),
      [],
    );
  }
});

test('no file depends on itself by way of others', () => {
  const targets = new Map(
    files.map((file) => [file, imports.filter((one) => one.file === file && isOurs(one)).map(({ target }) => target)]),
  );
  const done = new Set<string>();
  const walk = (file: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(file), `a cycle: ${[...trail, file].join(' → ')}`);
    if (done.has(file)) return;
    for (const target of targets.get(file) ?? []) walk(target, [...trail, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
});

test(`no file has more than ${MAX_LINES} lines`, () => {
  const written = files.filter((file) => !GENERATED.includes(file));
  const long = written.filter((file) => readFileSync(join(SOURCE, file), 'utf8').split('\n').length > MAX_LINES + 1);
  assert.deepEqual(long, []);
});
