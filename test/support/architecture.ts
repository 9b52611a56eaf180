/** The parts of the program and the layers of those in the browser, from the tables of docs/architecture.md. */
import { readFileSync } from 'node:fs';

const PAGE = readFileSync(new URL('../../../docs/architecture.md', import.meta.url), 'utf8');

interface Part {
  /**
   * In addition to `contract` and `base`, which every part may import, and the part's own folder. `*`: every other
   * part.
   */
  readonly imports: readonly string[];
  /** Parts of which it may import types, which disappear in the build. */
  readonly types: readonly string[];
}

const namesIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** A part is a folder or a file, or one in a folder: a file belongs to the longest matching name. */
export const PARTS: Readonly<Record<string, Part>> = Object.fromEntries(
  [...PAGE.matchAll(/^\| `([\w/-]+)` \| [^|]+ \|([^|\n]*)\|([^|\n]*)\|$/gm)].map(
    ([, name = '', imports = '', types = '']) => [
      name,
      { imports: imports.includes('every other part') ? ['*'] : namesIn(imports), types: namesIn(types) },
    ],
  ),
);

/** The layers of a part, as folders and files: each imports itself and those after it. */
export const LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = Object.fromEntries(
  [...PAGE.matchAll(/^- `([\w/]+)`: (.* → .*)$/gm)].map(([, part = '', layers = '']) => [
    part,
    layers.split(' → ').map(namesIn),
  ]),
);

/** Every part may import it. */
export const BASE = 'base';
/** Below everything: `base` imports it, and so do the pages and the programs that are published separately. */
export const CONTRACT = 'contract';

/** The longest name of the table that contains a file of `src`; "" = none. */
export const partOf = (file: string): string => longestOf(Object.keys(PARTS), file);

/** The layer of a file of such a part, counted from the top; -1 = none. */
export function layerOf(part: string, file: string): number {
  const layers = LAYERS[part] ?? [];
  const name = longestOf(layers.flat(), file.slice(part.length + 1));
  return layers.findIndex((layer) => layer.includes(name));
}

function longestOf(names: readonly string[], file: string): string {
  const isIn = (name: string): boolean => file.startsWith(`${name}/`) || file.replace(/\.tsx?$/, '') === name;
  return names.filter(isIn).reduce((longest, name) => (name.length > longest.length ? name : longest), '');
}

/** The diagram of the page, line by line. */
export const shownDiagram = (): string[] => /^```mermaid\n(flowchart[^]*?)\n```$/m.exec(PAGE)?.[1]?.split('\n') ?? [];

/**
 * The expected diagram: an arrow that follows from two others is omitted, and so are `app`, which imports every part,
 * `base` and `contract`. A part in a folder is drawn as the folder, unless it imports a part that imports the folder.
 */
export function diagramOfParts(): string[] {
  const folderOf = (name: string): string => name.split('/', 1)[0] ?? name;
  const importsOf = (name: string): readonly string[] => PARTS[name]?.imports ?? [];
  const isAbove = (name: string, folder: string): boolean =>
    importsOf(name).some((part) => folderOf(part) !== folder && importsOf(part).includes(folder));
  const top = (name: string): string => (isAbove(name, folderOf(name)) ? name : folderOf(name));
  const targets = new Map<string, Set<string>>();
  for (const [name, { imports }] of Object.entries(PARTS)) {
    const from = top(name);
    if (from === 'app' || from === BASE || from === CONTRACT) continue;
    const known = targets.get(from) ?? new Set();
    for (const target of imports.map(top)) if (target !== from) known.add(target);
    targets.set(from, known);
  }
  const reaches = (from: string, to: string): boolean =>
    [...(targets.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const arrows = [...targets].flatMap(([from, all]) =>
    [...all]
      .filter((to) => ![...all].some((other) => other !== to && reaches(other, to)))
      .map((to) => `  ${from} --> ${to}`),
  );
  return ['flowchart TD', ...arrows];
}
