/** The shape of the program: who may import whom. Failing looks like an arrow back, which makes every later change wider. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { PROGRAM_OPTIONS } from '../src/build/bundle.js';
import { pageWithParts, PAGE_FILE } from './docs/architecture.js';
import { BASE, CONTRACT, PARTS, partOf } from './support/architecture.js';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

/** Libraries that one place alone knows. */
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

interface Import {
  readonly file: string;
  readonly target: string;
  readonly isType: boolean;
  /** Loaded when it is needed, by import(). */
  readonly isDynamic: boolean;
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
  // What runs in a browser is a program of its own, which knows the gateway by HTTP alone.
  (name) => name.endsWith('.ts') && !/^(dashboard|docs)\/web\//.test(name),
);
const imports = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const found: Import[] = [];
  const text = readFileSync(join(SOURCE, file), 'utf8');
  const add = (specifier: ts.Expression | undefined, isType: boolean, isDynamic = false): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return;
    const { text: name } = specifier;
    const target = name.startsWith('.') ? normalize(join(dirname(file), name)).replace(/\.js$/, '.ts') : name;
    found.push({ file, target, isType, isDynamic });
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
      add(node.arguments[0], false, true);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

const isOurs = ({ target }: Import): boolean => target.endsWith('.ts');

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

test('docs/architecture.md shows the table of parts as it is: npm run generate', () => {
  const page = readFileSync(PAGE_FILE, 'utf8');
  assert.equal(page, pageWithParts(page));
});

test('what is loaded when it is needed is loaded at the start: an import that failed once fails for ever', () => {
  const places = imports
    .filter(({ file, isDynamic }) => isDynamic && !/^(build|cli|release)\//.test(file))
    .map(({ file }) => file);
  assert.deepEqual([...new Set(places)].sort(), [
    ...['alarms/mailer.ts', 'app/start.ts', 'main.ts', 'observe/tracing.ts'],
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
      !['remotes/registry.ts', 'app/gateway.ts', 'app/serving.ts'].includes(file)
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

test('aborts are listened to, and work is raced with time, through base/deadline alone', () => {
  const byHand = files.filter((file) => {
    const text = readFileSync(join(SOURCE, file), 'utf8');
    return /addEventListener\('abort'|once\(\w*[sS]ignal, 'abort'|Promise\.race\(\[[^\]]*(delay|setTimeout)/.test(text);
  });
  // The client shares no code with the gateway.
  assert.deepEqual(byHand.sort(), ['base/deadline.ts', 'client/transport.ts']);
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

/** What a request brought is typed by the schema that checked it; endpoint() hands it over so typed, for all of them. */
const HANDS_OVER = 'api/endpoint.ts';
const OF_A_REQUEST = /(^|\.)(json|query|params|body|input|context)$/;

test('no endpoint casts what a request brought', () => {
  const casts: string[] = [];
  for (const file of files.filter((name) => name.startsWith('api/') && name !== HANDS_OVER)) {
    const source = ts.createSourceFile(file, readFileSync(join(SOURCE, file), 'utf8'), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if ((ts.isAsExpression(node) || ts.isTypeAssertionExpression(node)) && OF_A_REQUEST.test(castIn(node).getText()))
        casts.push(`${file}: ${node.getText()}`);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  assert.deepEqual(casts, []);
});

/** Behind other casts and parentheses. */
function castIn({ expression }: ts.AsExpression | ts.TypeAssertion | ts.ParenthesizedExpression): ts.Expression {
  const isWrapped =
    ts.isAsExpression(expression) ||
    ts.isTypeAssertionExpression(expression) ||
    ts.isParenthesizedExpression(expression);
  return isWrapped ? castIn(expression) : expression;
}

test('the folders of storage form no circle', () => {
  const targetsOf = (part: string): string[] =>
    imports.filter(isOurs).flatMap(({ file, target }) => (partOf(file) === part ? [partOf(target)] : []));
  const walk = (part: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(part), `a circle: ${[...trail, part].join(' → ')}`);
    const targets = new Set(targetsOf(part).filter((target) => target !== part && target.startsWith('storage')));
    for (const target of targets) walk(target, [...trail, part]);
  };
  walk('storage', []);
});

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

/** The tables that the file's statements write; "?" where the name stands in none of them. */
/** The tables of sealed secrets; those of the job engine, in a schema of its own. */
const NAMED_BY_VARIABLES = ['storage/secrets/sealed-rows.ts', 'storage/cluster/jobs.ts'];

function tablesWrittenBy(file: string): string[] {
  const text = readFileSync(join(SOURCE, file), 'utf8');
  const write = /(?<!for |do |no key )\b(?:insert into|update|delete from|truncate)\s+(?:(\w+)|\$\{)/g;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node)) {
      for (const [, table] of node.template.getText().matchAll(write)) found.push(table ?? '?');
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

test('a table is written by one module, and docs/architecture.md says by which', () => {
  const known = writers();
  const migrations = join(SOURCE, 'storage/migrations');
  const created = readdirSync(migrations).flatMap((name) =>
    [...readFileSync(join(migrations, name), 'utf8').matchAll(/^create (?:unlogged )?table (\w+)/gm)].map(
      ([, table]) => table ?? '',
    ),
  );
  assert.deepEqual([...known.keys()].sort(), created.sort(), 'the table of docs/architecture.md lists other tables');
  const writes = files.flatMap((file) => tablesWrittenBy(file).map((table) => ({ file, table })));
  const wrong = writes.filter(({ file, table }) => {
    if (table === '?') return !NAMED_BY_VARIABLES.includes(file);
    const writer = known.get(table);
    return writer === undefined || file !== `storage/${writer}`;
  });
  assert.deepEqual(wrong, []);
  const written = new Set(writes.map(({ table }) => table));
  // Written by names in variables, or by the library that it is for.
  const unseen = ['connection_secrets', 'account_secrets', 'job_secrets', 'webhook_secrets', 'receipt_key_secrets'];
  const silent = [...known.keys()].filter((table) => !written.has(table) && !unseen.includes(table));
  assert.deepEqual(silent, []);
});
