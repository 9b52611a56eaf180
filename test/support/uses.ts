/** Who uses what the server declares: by types, so that other names, destructuring and Pick hide nothing. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SOURCE = /\/src\/([^]*)$/;

/** The server's modules, with a checker for their types. */
export function serverProgram(): ts.Program {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, (file) => ts.sys.readFile(file)) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram([`${ROOT}src/main.ts`], { ...options, noEmit: true, skipLibCheck: true });
  // From then on each node knows its parent.
  program.getTypeChecker();
  return program;
}

/** The name of a declaration, with that of its class or interface, as `Remote.write`. */
export function nameOf(declaration: ts.Declaration): string {
  const name = ts.getNameOfDeclaration(declaration)?.getText() ?? '';
  const { parent } = declaration;
  const isMember = ts.isInterfaceDeclaration(parent) || ts.isClassDeclaration(parent);
  return isMember ? `${parent.name?.text ?? ''}.${name}` : name;
}

/** The declarations at the top of a file, and the members of its classes and interfaces. */
export function declarationsIn(program: ts.Program, file: string): readonly ts.Declaration[] {
  const source = program.getSourceFile(`${ROOT}src/${file}`);
  if (source === undefined) throw new Error(`${file} is not part of the server`);
  return source.statements.flatMap((statement): readonly ts.Declaration[] => {
    if (ts.isInterfaceDeclaration(statement) || ts.isClassDeclaration(statement)) return [...statement.members];
    return ts.isFunctionDeclaration(statement) ? [statement] : [];
  });
}

/** The files that use each of the declarations, by its name; those that declare it, and imports, do not count. */
export function usersOf(
  program: ts.Program,
  wanted: readonly ts.Declaration[],
): Readonly<Record<string, readonly string[]>> {
  const checker = program.getTypeChecker();
  const words = new Set(wanted.map((one) => ts.getNameOfDeclaration(one)?.getText() ?? ''));
  const found = new Map<string, Set<string>>(wanted.map((one) => [nameOf(one), new Set()]));
  for (const source of program.getSourceFiles()) {
    const file = SOURCE.exec(source.fileName)?.[1];
    if (file === undefined || source.fileName.includes('/node_modules/')) continue;
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node)) return;
      if (ts.isIdentifier(node) && words.has(node.text) && !isName(node)) {
        for (const declaration of declarationsOf(checker, node)) {
          if (wanted.includes(declaration) && declaration.getSourceFile() !== source)
            found.get(nameOf(declaration))?.add(file);
        }
      }
      ts.forEachChild(node, visit);
    };
    // Under another name, a function is used by the name of the import.
    for (const alias of aliasesIn(source, words)) words.add(alias);
    visit(source);
  }
  return Object.fromEntries([...found].map(([name, files]) => [name, [...files].sort()]));
}

/** Whether the identifier only gives a name to what it belongs to. */
function isName(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isPropertyAssignment(parent) && parent.name === node) ||
    (ts.isMethodDeclaration(parent) && parent.name === node) ||
    (ts.isMethodSignature(parent) && parent.name === node)
  );
}

function declarationsOf(checker: ts.TypeChecker, node: ts.Identifier): readonly ts.Declaration[] {
  const { parent } = node;
  const isTaken = ts.isBindingElement(parent) && (parent.propertyName ?? parent.name) === node;
  const symbol =
    isTaken && ts.isObjectBindingPattern(parent.parent)
      ? checker.getTypeAtLocation(parent.parent).getProperty(node.text)
      : checker.getSymbolAtLocation(node);
  if (symbol === undefined) return [];
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  return (isAlias ? checker.getAliasedSymbol(symbol) : symbol).declarations ?? [];
}

function aliasesIn(source: ts.SourceFile, words: ReadonlySet<string>): readonly string[] {
  return source.statements.filter(ts.isImportDeclaration).flatMap(({ importClause }) => {
    const bindings = importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
    const renamed = bindings.elements.filter(({ propertyName }) => propertyName && words.has(propertyName.text));
    return renamed.map(({ name }) => name.text);
  });
}
