/** The modules of the project, parsed by TypeScript: what each imports, by name, and what it exports. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export interface Import {
  readonly file: string;
  /** A file of ours, or the name of a package. */
  readonly target: string;
  /** The imported names. `*`: any value. */
  readonly names: readonly string[];
  readonly isType: boolean;
  /** Loaded on demand, by import(). */
  readonly isDynamic: boolean;
  /** `export *`: importers of this module may use names of the target. */
  readonly isPassedOn: boolean;
}

export interface Export {
  readonly name: string;
  /** A type, which disappears in the build. */
  readonly isType: boolean;
}

export interface Module {
  /** Below the folder. */
  readonly file: string;
  readonly source: ts.SourceFile;
  readonly imports: readonly Import[];
  readonly exports: readonly Export[];
}

/** The modules in a folder of the project. Targets are relative to it, like the files. */
export function modulesIn(folder: string): Module[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => name.replaceAll('\\', '/')).filter((name) => /\.tsx?$/.test(name));
  return files.map((file) => moduleOf(file, readFileSync(join(ROOT, folder, file), 'utf8')));
}

/** A file of the project by itself. What it loads from dist is made from the module of that name. */
export function moduleIn(file: string): Module {
  return moduleOf(file, readFileSync(join(ROOT, file), 'utf8'));
}

/** The module with this text. */
export function moduleOf(file: string, text: string): Module {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
  return { file, source, imports: importsOf(file, source), exports: source.statements.flatMap(exportsOf) };
}

function importsOf(file: string, source: ts.SourceFile): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, names: readonly string[], more: Partial<Import> = {}): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return;
    const target = targetOf(file, specifier.text);
    found.push({ file, target, names, isType: false, isDynamic: false, isPassedOn: false, ...more });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const { importClause, moduleSpecifier } = node;
      add(moduleSpecifier, namesOf(importClause, source), { isType: isOfTypes(importClause) });
    } else if (ts.isExportDeclaration(node)) {
      const { exportClause, moduleSpecifier, isTypeOnly } = node;
      const isNamed = exportClause !== undefined && ts.isNamedExports(exportClause);
      const names = isNamed ? exportClause.elements.map(({ name, propertyName }) => (propertyName ?? name).text) : [];
      add(moduleSpecifier, names, { isType: isTypeOnly, isPassedOn: exportClause === undefined });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], namesAwaited(node), { isDynamic: true });
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const { qualifier } = node;
      add(node.argument.literal, [qualifier === undefined ? '*' : leftmost(qualifier)], { isType: true });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function targetOf(file: string, name: string): string {
  if (!name.startsWith('.')) return name;
  const target = normalize(join(dirname(file), name))
    .replaceAll('\\', '/')
    .replace(/\.js$/, '.ts');
  return target.replace(/^(\.\.\/|dist\/)src\//, '');
}

function isOfTypes(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = clause;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly);
}

function namesOf(clause: ts.ImportClause | undefined, source: ts.SourceFile): string[] {
  const first = clause?.name === undefined ? [] : ['default'];
  const bindings = clause?.namedBindings;
  if (bindings === undefined) return first;
  if (ts.isNamespaceImport(bindings)) return [...first, ...membersOf(bindings.name.text, source)];
  return [...first, ...bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)];
}

/** The used members of a namespace; `*` if it is used as a value. */
function membersOf(namespace: string, source: ts.SourceFile): string[] {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isNamespaceImport(node)) return;
    if (ts.isIdentifier(node) && node.text === namespace) {
      const { parent } = node;
      if (ts.isPropertyAccessExpression(parent) && parent.expression === node) found.add(parent.name.text);
      else if (ts.isQualifiedName(parent) && parent.left === node) found.add(parent.right.text);
      else if (!ts.isPropertyAccessExpression(parent)) found.add('*');
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found];
}

/** `const { a } = await import('…')` uses `a`. */
function namesAwaited(call: ts.CallExpression): string[] {
  let node: ts.Node = call.parent;
  while (ts.isAwaitExpression(node) || ts.isParenthesizedExpression(node) || ts.isConditionalExpression(node))
    node = node.parent;
  if (!ts.isVariableDeclaration(node) || !ts.isObjectBindingPattern(node.name)) return ['*'];
  return node.name.elements.map(({ name, propertyName }) => (propertyName ?? name).getText());
}

const leftmost = (name: ts.EntityName): string => (ts.isIdentifier(name) ? name.text : leftmost(name.left));

function exportsOf(statement: ts.Statement): Export[] {
  if (ts.isExportAssignment(statement)) return [{ name: 'default', isType: false }];
  if (ts.isExportDeclaration(statement)) {
    const { exportClause, isTypeOnly } = statement;
    if (exportClause === undefined || !ts.isNamedExports(exportClause)) return [];
    return exportClause.elements.map((element) => ({
      name: element.name.text,
      isType: isTypeOnly || element.isTypeOnly,
    }));
  }
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (modifiers.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)) return [{ name: 'default', isType: false }];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations
      .flatMap(({ name }) => boundNames(name))
      .map((name) => ({ name, isType: false }));
  const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
  const { name } = statement as ts.Statement & { readonly name?: ts.Identifier };
  return name === undefined ? [] : [{ name: name.text, isType }];
}

function boundNames(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : boundNames(element.name)));
}

/**
 * `file: name` of each export that no module imports by name. Everything that an entry exports is used, also what it
 * passes on. `users`: further modules, which may export anything.
 */
export function unusedExports(
  modules: readonly Module[],
  users: readonly Module[],
  entries: readonly string[] = [],
): string[] {
  const byFile = new Map(modules.map((module) => [module.file, module]));
  const used = new Set<string>();
  const use = (file: string, name: string): void => {
    const module = byFile.get(file);
    if (module === undefined) return;
    const own = module.exports.filter((one) => (name === '*' ? !one.isType : one.name === name));
    for (const one of own) used.add(`${file}: ${one.name}`);
    if (own.length > 0 && name !== '*') return;
    for (const { isPassedOn, target } of module.imports) if (isPassedOn) use(target, name);
  };
  for (const { imports } of [...modules, ...users])
    for (const { target, names } of imports) for (const name of names) use(target, name);
  const passedOn = (file: string): string[] =>
    (byFile.get(file)?.imports ?? []).flatMap(({ isPassedOn, target }) => (isPassedOn ? [target] : []));
  const open = new Set([...entries, ...entries.flatMap(passedOn)]);
  const closed = modules.filter(({ file }) => !open.has(file) && !file.endsWith('.d.ts'));
  const all = closed.flatMap(({ file, exports }) => exports.map(({ name }) => `${file}: ${name}`));
  return all.filter((one) => !used.has(one));
}
