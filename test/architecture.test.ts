/**
 * The shape of the program: which folders may import which. A failure is an import in the wrong direction, which makes
 * every later change wider.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { PROGRAM_OPTIONS } from '../src/build/bundle.js';
import {
  BASE,
  CONTRACT,
  diagramOfParts,
  layerOf,
  LAYERS,
  PARTS,
  partOf,
  shownDiagram,
} from './support/architecture.js';
import { type Import, moduleIn, moduleOf, modulesIn, unusedExports } from './support/modules.js';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

/** Libraries that only one place knows. */
const OWNERS: readonly (readonly [library: RegExp, owner: RegExp])[] = [
  [/^uWebSockets\.js/, /^(http\/native\/|app\/threads\/calls)/],
  [/^ssh2$/, /^(remotes\/sftp|sandbox)\//],
  [/^basic-ftp$/, /^remotes\/ftp\//],
  [/^@(aws-sdk|smithy)\//, /^remotes\/s3\//],
  [/^(postgres|postgrator|pg-boss)$/, /^storage\//],
  [/^piscina$/, /^workers\//],
  [/^@opentelemetry\//, /^observe\/otlp-tracer\.ts$/],
  [/^prom-client$/, /^observe\/metrics\.ts$/],
  [/^(commander|cli-table3)$/, /^cli\//],
  [/^nodemailer$/, /^alarms\/mailer\.ts$/],
  [/^n8n-workflow$/, /^n8n\//],
  [/^@modelcontextprotocol\//, /^(mcp\/|cli\/commands\/mcp\.ts$)/],
];

const modules = modulesIn('src');
const imports = modules.flatMap((module) => module.imports);
const files = modules.map(({ file }) => file);
/** What runs in a browser. */
const isOfPages = (file: string): boolean => /^(dashboard|docs)\/web\//.test(file);

const isOurs = ({ target }: Import): boolean => /\.tsx?$/.test(target);

test('imports point one way', () => {
  assert.ok(imports.length > 300, 'the imports were not found');
  const wrong = imports.filter(isOurs).filter(({ file, target, isType }) => {
    const [from, to] = [partOf(file), partOf(target)];
    if (from === to || to === CONTRACT || (to === BASE && from !== CONTRACT)) return false;
    const { imports: named = [], types = [] } = PARTS[from] ?? {};
    const allowed = isType ? [...named, ...types] : named;
    return !allowed.includes('*') && !allowed.includes(to);
  });
  assert.deepEqual(wrong, []);
});

test('the contract imports nothing but itself and the words of schemas', () => {
  const own = imports.filter(({ file }) => partOf(file) === CONTRACT);
  assert.ok(own.length > 0, 'the imports were not found');
  const wrong = own.filter((one) => (isOurs(one) ? partOf(one.target) !== CONTRACT : one.target !== 'typebox'));
  assert.deepEqual(wrong, []);
});

test('layers import those below them', () => {
  for (const part of Object.keys(LAYERS)) {
    const own = files.filter((file) => partOf(file) === part && !file.endsWith('.d.ts'));
    assert.deepEqual(
      own.filter((file) => layerOf(part, file) === -1),
      [],
      'without a layer',
    );
    const inside = imports.filter(isOurs).filter(({ file, target }) => own.includes(file) && own.includes(target));
    assert.ok(inside.length > 5, `the imports of ${part} were not found`);
    const wrong = inside.filter(({ file, target }) => layerOf(part, target) < layerOf(part, file));
    assert.deepEqual(wrong, []);
  }
});

test('screens do not know each other: what several need is in a folder of parts, and only the page has screens', () => {
  const isScreen = (file: string): boolean => /^dashboard\/web\/screens\/[^/]+$/.test(file);
  const users = imports.filter(({ target }) => isScreen(target)).map(({ file }) => file);
  assert.deepEqual([...new Set(users)].sort(), ['dashboard/web/app.tsx', 'dashboard/web/desk.tsx']);
  const folderOf = (file: string): string => /^dashboard\/web\/(screens\/[^/]+)\//.exec(file)?.[1] ?? '';
  assertNoCircle(folderOf);
});

/** Whole files that are published, or loaded by other means than an import. */
const ENTRIES: readonly string[] = [
  // The client for programs: `exports` of package.json.
  'client/index.ts',
  // n8n loads these by their names.
  ...['n8n/FileTransferGateway.node.ts', 'n8n/FileTransferGatewayTrigger.node.ts'],
  'n8n/FileTransferGatewayApi.credentials.ts',
  // A thread of piscina.
  'workers/base64.worker.ts',
  // The build makes each element of a page with it (jsxImportSource).
  'dashboard/web/ui/jsx-runtime.ts',
];

test('every export is imported by another module, tests not counted', () => {
  assert.deepEqual(
    ENTRIES.filter((file) => !files.includes(file)),
    [],
  );
  assert.deepEqual(unusedExports(modules, [...modulesIn('bench'), moduleIn('build.js')], ENTRIES), []);
});

test('unused exports are found, with any form of imports', () => {
  const text = 'export const a = 1, { b: [c] } = x; export function d() {} export interface E {} export default d;';
  const own = [moduleOf('one.ts', text), moduleOf('all.ts', "export * from './one.js';")];
  const unusedBy = (...texts: readonly string[]): string[] => {
    const users = texts.map((user, index) => moduleOf(`in/${index}.ts`, user));
    return unusedExports(own, users).map((one) => one.replace('one.ts: ', ''));
  };
  assert.deepEqual(unusedExports(own, [], ['all.ts']), []);
  assert.deepEqual(unusedBy(), ['a', 'c', 'd', 'E', 'default']);
  assert.deepEqual(unusedBy("import f, { a as other, type E } from '../one.js';"), ['c', 'd']);
  assert.deepEqual(unusedBy("import { a } from '../all.js';", "export { c, d as default } from '../one.js';"), [
    'E',
    'default',
  ]);
  assert.deepEqual(unusedBy("import * as one from '../one.js'; one.a; let e: one.E; other.one;"), [
    'c',
    'd',
    'default',
  ]);
  assert.deepEqual(unusedBy("import * as one from '../one.js'; f(one);"), ['E']);
  assert.deepEqual(unusedBy("const { a, d: e } = await import('../one.js');"), ['c', 'E', 'default']);
  assert.deepEqual(unusedBy("f(() => import('../one.js'));"), ['E']);
  assert.deepEqual(unusedBy("let e: import('../one.js').E;"), ['a', 'c', 'd', 'default']);
});

test('the diagram of docs/architecture.md has the arrows of its table', () => {
  assert.deepEqual(shownDiagram(), diagramOfParts());
});

test('modules that are loaded on demand are loaded at the start: an import that has failed once fails for ever', () => {
  const places = imports
    .filter(({ file, isDynamic }) => isDynamic && !/^(build|cli|release)\//.test(file) && !isOfPages(file))
    .map(({ file }) => file);
  assert.deepEqual([...new Set(places)].sort(), [
    ...['alarms/mailer.ts', 'app/s3.ts', 'app/start.ts', 'main.ts', 'observe/tracing.ts'],
  ]);
});

test('a package that is loaded when it is needed is an ES module: the bundle drops the names of others', () => {
  const external: readonly string[] = PROGRAM_OPTIONS.external;
  const packages = imports.filter(
    (one) => one.isDynamic && !isOurs(one) && !isBuiltin(one.target) && !external.includes(one.target),
  );
  assert.ok(packages.length > 0, 'none was found');
  const wrong = packages.filter(({ target }) => !isModule(fileURLToPath(import.meta.resolve(target))));
  assert.deepEqual(wrong, []);
});

/** As Node.js decides it: by the name of the file, or the nearest package.json. */
function isModule(file: string): boolean {
  if (/\.[cm]js$/.test(file)) return file.endsWith('.mjs');
  const manifest = manifestAbove(dirname(file));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly type?: string }).type === 'module';
}

function manifestAbove(folder: string): string {
  const file = join(folder, 'package.json');
  return existsSync(file) ? file : manifestAbove(dirname(folder));
}

test('every part is known to this test', () => {
  assert.deepEqual(
    files.filter((file) => partOf(file) === ''),
    [],
  );
});

test('the protocols do not know each other, and only the registry lists them', () => {
  const protocolOf = (file: string): string | undefined => /^remotes\/(sftp|ftp|s3)\//.exec(file)?.[1];
  const wrong = imports.filter(isOurs).filter(({ file, target }) => {
    const to = protocolOf(target);
    return (
      to !== undefined &&
      to !== protocolOf(file) &&
      !['remotes/registry.ts', 'app/gateway.ts', 'app/application.ts'].includes(file)
    );
  });
  assert.deepEqual(wrong, []);
});

/** What makes events. */
const MAKES_EVENTS = /^(watch|jobs|alarms|links|uploads|operations|connections\/health)\//;
/** What receives them. */
const RECEIVES_EVENTS = /^events\/|^storage\/tables\/(event-|deliveries|webhook)/;

test('makers of events know only the outbox, and events know nothing of their makers', () => {
  const ours = imports.filter(isOurs);
  const makes = (file: string): boolean => MAKES_EVENTS.test(file);
  assert.deepEqual(
    ours.filter(({ file, target }) => makes(file) && RECEIVES_EVENTS.test(target)),
    [],
  );
  assert.deepEqual(
    ours.filter(({ file, target }) => file.startsWith('events/') && makes(target)),
    [],
  );
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

test('aborts are listened to, and work is raced with time, through base/deadline alone', () => {
  const byHand = /addEventListener\('abort'|once\(\w*[sS]ignal, 'abort'|Promise\.race\(\[[^\]]*(delay|setTimeout)/;
  const found = modules.filter(({ file, source }) => !isOfPages(file) && byHand.test(source.text));
  // The client shares no code with the gateway.
  assert.deepEqual(found.map(({ file }) => file).sort(), ['base/deadline.ts', 'client/wait.ts']);
});

test('work is repeated at an interval through base/every alone, on the server through base/periodic', () => {
  const found = modules.filter(({ source }) => /\bsetInterval\(/.test(source.text)).map(({ file }) => file);
  assert.deepEqual(found, ['base/every.ts']);
  const users = imports.filter(({ target }) => target === 'base/every.ts').map(({ file }) => file);
  assert.deepEqual(
    users.filter((file) => !isOfPages(file)),
    ['base/periodic.ts'],
  );
});

test('delays before retries, and their random spread, are made only by base/retry-schedule', () => {
  const byHand = /\bMath\.random\b|Math\.min\([^()]*((?<!Bytes )\* 2\b|\b2 \*)/;
  const found = modules.filter(({ source }) => byHand.test(source.text));
  assert.deepEqual(
    found.map(({ file }) => file),
    ['base/retry-schedule.ts'],
  );
});

test('one module defines each of these', () => {
  const owners: readonly (readonly [pattern: RegExp, owner: string])[] = [
    [/const (SECOND|MINUTE|HOUR|DAY)_MS =/, 'contract/units.ts'],
    [/const (KIB|MIB) =/, 'contract/units.ts'],
    [/'KiB'|'(kilo|mega)byte'/, 'contract/units.ts'],
    [/'&amp;'/, 'base/html.ts'],
    [/\['succeeded', 'partly_failed', /, 'contract/job-states.ts'],
    [/`there is no (\$\{kind\}|connection|upload|transfer) \$\{/, 'base/errors.ts'],
  ];
  for (const [pattern, owner] of owners) {
    const found = modules.filter(({ source }) => pattern.test(source.text)).map(({ file }) => file);
    assert.deepEqual(found, [owner], pattern.source);
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

/** The input of a request is typed by the schema that checked it; endpoint() passes it on with this type. */
const HANDS_OVER = 'api/endpoint.ts';
const OF_A_REQUEST = /(^|\.)(json|query|params|body|input|context)$/;

test('no endpoint casts input of a request', () => {
  const casts: string[] = [];
  for (const { file, source } of modules.filter((one) => one.file.startsWith('api/') && one.file !== HANDS_OVER)) {
    const visit = (node: ts.Node): void => {
      if ((ts.isAsExpression(node) || ts.isTypeAssertionExpression(node)) && OF_A_REQUEST.test(castIn(node).getText()))
        casts.push(`${file}: ${node.getText()}`);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  assert.deepEqual(casts, []);
});

/** Inside other casts and parentheses. */
function castIn({ expression }: ts.AsExpression | ts.TypeAssertion | ts.ParenthesizedExpression): ts.Expression {
  const isWrapped =
    ts.isAsExpression(expression) ||
    ts.isTypeAssertionExpression(expression) ||
    ts.isParenthesizedExpression(expression);
  return isWrapped ? castIn(expression) : expression;
}

test('the folders of storage form no circle', () => {
  assertNoCircle((file) => (partOf(file).startsWith('storage') ? partOf(file) : ''));
});

/** Programs of their own: they share no names with the server. */
const isOfServer = (file: string): boolean => !/^(build|cli|client|dashboard|docs|n8n|release)\//.test(file);

/** Storage.ts names what others may ask of a class of the tables by the name of that class. */
const NAMES_CLASSES = 'storage/storage.ts';

test('a name of a class, or an exported type, on the server has one meaning there', () => {
  assertNamedOnce(
    (node) => {
      const isClass = ts.isClassDeclaration(node);
      if (!isClass && !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node)) return [];
      return isClass || isExported(node) ? [node.name?.text ?? ''] : [];
    },
    (file) => file !== NAMES_CLASSES,
  );
});

test('an exported function of the server has one meaning there; protocols may repeat names of the seam', () => {
  assertNamedOnce(
    (node) => {
      if (ts.isFunctionDeclaration(node) && isExported(node)) return [node.name?.text ?? ''];
      if (!ts.isVariableStatement(node) || !isExported(node)) return [];
      const { declarations } = node.declarationList;
      return declarations.flatMap(({ name, initializer }) =>
        initializer !== undefined && ts.isArrowFunction(initializer) ? [name.getText()] : [],
      );
    },
    (file) => !/^remotes\/(ftp|s3|sftp)\//.test(file),
  );
});

const isExported = (node: ts.Statement): boolean =>
  ts.canHaveModifiers(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;

/** No name that `namesIn` finds in a statement is found in two files of the server. */
function assertNamedOnce(namesIn: (node: ts.Statement) => readonly string[], isMeant: (file: string) => boolean): void {
  const declared = new Map<string, Set<string>>();
  for (const { file, source } of modules.filter((one) => isOfServer(one.file) && isMeant(one.file))) {
    for (const name of source.statements.flatMap(namesIn))
      declared.set(name, (declared.get(name) ?? new Set()).add(file));
  }
  assert.ok(declared.size > 500, 'the names were not found');
  const wrong = [...declared].filter(([, places]) => places.size > 1);
  assert.deepEqual(wrong, []);
}

/** Among the groups that `groupOf` puts files into; "" = none. */
function assertNoCircle(groupOf: (file: string) => string): void {
  const targets = new Map<string, Set<string>>();
  for (const { file, target } of imports.filter(isOurs)) {
    const [from, to] = [groupOf(file), groupOf(target)];
    if (from === '' || to === '' || from === to) continue;
    targets.set(from, (targets.get(from) ?? new Set()).add(to));
  }
  assert.ok(targets.size > 1, 'no groups were found');
  const walk = (group: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(group), `a circle: ${[...trail, group].join(' → ')}`);
    for (const target of targets.get(group) ?? []) walk(target, [...trail, group]);
  };
  for (const group of targets.keys()) walk(group, []);
}

test('the storage is known by storage.ts alone, and opened by the app', () => {
  const wrong = imports.filter(isOurs).filter(({ file, target }) => {
    if (!partOf(target).startsWith('storage') || partOf(file).startsWith('storage')) return false;
    return target !== 'storage/storage.ts' && !file.startsWith('app/');
  });
  assert.deepEqual(wrong, []);
});

/** The rows of the table of docs/architecture.md that say which module writes a table of the database. */
function writers(): ReadonlyMap<string, string> {
  const docs = readFileSync(join(SOURCE, '../docs/architecture.md'), 'utf8');
  const rows = docs.matchAll(/^\| `((?:tables|secrets|cluster)\/[^`]*)` +\| ([^|]*?) +\|/gm);
  return new Map(
    [...rows].flatMap(([, module = '', tables = '']) =>
      [...tables.matchAll(/`(\w+)`/g)].map(([, table = '']) => [table, module] as const),
    ),
  );
}

/** The tables of sealed secrets; those of the queue, in a schema of its own. */
const NAMED_BY_VARIABLES = ['storage/secrets/sealed-rows.ts', 'storage/queue/queue.ts'];

/** The tables that the file's statements write; "?" where a variable names one. */
function tablesWrittenBy(source: ts.SourceFile): string[] {
  const write =
    /(?<!for |do |no key )\b(?:insert into|update|delete from|truncate(?: table)?|merge into)\s+(?:only\s+)?"?(?:(\w+)|\$\{)/gi;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node)) {
      for (const [, table] of node.template.getText().matchAll(write)) found.push(table ?? '?');
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test('the search finds each form of a write', () => {
  const forms = ['insert into a', 'UPDATE b', 'update only c', 'delete from "d"', 'merge into e', 'truncate table f'];
  const { source } = moduleOf('one.ts', forms.map((form) => `await sql\`${form}\`;`).join('\n'));
  assert.deepEqual(tablesWrittenBy(source), ['a', 'b', 'c', 'd', 'e', 'f']);
});

/** Where text becomes a statement: probes, settings, migrations, and libraries with tables of their own. */
const BUILT_STATEMENTS = ['postgres/database', 'postgres/line', 'postgres/migrate', 'queue/queue', 'tables/accounts'];

test('statements are templates, which the search for writes can read', () => {
  const users = modules.filter(({ source }) => /\.unsafe\b/.test(source.text)).map(({ file }) => file);
  assert.deepEqual(
    users.sort(),
    BUILT_STATEMENTS.map((name) => `storage/${name}.ts`),
  );
});

test('a table is written by one module, and docs/architecture.md says by which', () => {
  const known = writers();
  const migrations = join(SOURCE, 'storage/migrations');
  const statements = readdirSync(migrations)
    .sort()
    .map((name) => readFileSync(join(migrations, name), 'utf8'))
    .join('\n');
  const tables = new Set<string>();
  for (const [, created, former, name] of statements.matchAll(
    /^(?:create (?:unlogged )?table (\w+)|alter table (\w+) rename to (\w+))/gm,
  )) {
    if (former !== undefined) tables.delete(former);
    tables.add(created ?? name ?? '');
  }
  assert.deepEqual(
    [...known.keys()].sort(),
    [...tables].sort(),
    'the table of docs/architecture.md lists other tables',
  );
  const writes = modules.flatMap(({ file, source }) => tablesWrittenBy(source).map((table) => ({ file, table })));
  const wrong = writes.filter(({ file, table }) => {
    if (table === '?') return !NAMED_BY_VARIABLES.includes(file);
    const writer = known.get(table);
    return writer === undefined || file !== `storage/${writer}`;
  });
  assert.deepEqual(wrong, []);
  const written = new Set(writes.map(({ table }) => table));
  // Written by names in variables, or by the library that it is for.
  const unseen = [
    'connection_secrets',
    'account_secrets',
    'job_secrets',
    'webhook_secrets',
    'receipt_key_secrets',
    's3_access_key_secrets',
    'transfer_secrets',
  ];
  const silent = [...known.keys()].filter((table) => !written.has(table) && !unseen.includes(table));
  assert.deepEqual(silent, []);
});
