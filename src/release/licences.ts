/** The licences of everything that is shipped or installed with a release. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { inputsOf, PROGRAM_OPTIONS } from '../build/bundle.js';
import { LOCKED } from './lock.js';
import { ROOT } from './places.js';

/** SPDX identifiers that require no more than a notice. */
const ALLOWED: readonly string[] = [
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0'],
  ...['PostgreSQL', 'Unlicense', 'CC0-1.0'],
];

export interface Licensed {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; "unknown" if the package names none. */
  readonly licence: string;
}

/** For an expression: one of several alternatives, or all of several that apply. */
export function isAllowed(licence: string): boolean {
  const all = licence.replace(/^\((.*)\)$/, '$1').split(' AND ');
  return all.every((one) => one.split(' OR ').some((id) => ALLOWED.includes(id.trim())));
}

/** Dependencies, with everything that they install on any system. */
export function installedPackages(): Licensed[] {
  const production = Object.entries(LOCKED).filter(([folder, { dev }]) => folder !== '' && dev !== true);
  const all = production.map(([folder, { version, name = nameOf(folder), license }]) => ({
    name,
    version,
    licence: license ?? licenceIn(folder),
  }));
  const keys = new Set<string>();
  return all
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .filter(({ name, version }) => !keys.has(`${name}@${version}`) && keys.add(`${name}@${version}`));
}

/** A package whose code is in a file of one of our packages; its notice is included. */
interface Bundled extends Licensed {
  readonly notice: string;
}

/** Packages whose code is in the gateway's programs, or in the scripts of its pages. */
export async function bundledPackages(): Promise<Bundled[]> {
  const programs = await build({ ...PROGRAM_OPTIONS, write: false });
  const pages = await build({
    entryPoints: ['src/dashboard/web/main.tsx', 'src/dashboard/web/link/link.ts', 'src/docs/web/main.ts'],
    absWorkingDir: ROOT,
    outdir: 'out',
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    loader: { '.svg': 'file' },
    metafile: true,
    write: false,
  });
  return packagesIn(programs.metafile, pages.metafile);
}

export function packagesIn(...metafiles: readonly Metafile[]): Bundled[] {
  const used = metafiles
    .flatMap(inputsOf)
    .flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  const folders = [...new Set(used)].sort();
  return folders.map((folder) => ({
    name: nameOf(folder),
    version: (LOCKED[folder] ?? { version: '?' }).version,
    licence: LOCKED[folder]?.license ?? licenceIn(folder),
    notice: noticeIn(folder, folders),
  }));
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Older manifests have a list of `licenses`. */
function licenceIn(folder: string): string {
  const file = join(ROOT, folder, 'package.json');
  if (!existsSync(file)) return 'unknown';
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly license?: string;
    readonly licenses?: readonly { readonly type: string }[];
  };
  return manifest.license ?? (manifest.licenses?.map(({ type }) => type).join(' OR ') || 'unknown');
}

/**
 * Its file, or the section of its README; some packages that are published together have neither, and share the first
 * one's.
 */
function noticeIn(folder: string, siblings: readonly string[]): string {
  const isNotice = (name: string): boolean => /^(licen[cs]e|copying|notice)/i.test(name);
  const textIn = (from: string, wanted: (name: string) => boolean): string => {
    const file = readdirSync(join(ROOT, from)).find(wanted);
    return file === undefined ? '' : readFileSync(join(ROOT, from, file), 'utf8').trim();
  };
  const readme = textIn(folder, (name) => /^readme/i.test(name));
  const [, section = ''] =
    /^#+ licen[cs]e\n+([^]*(?:Permission is hereby granted|Redistribution and use)[^]*)$/im.exec(readme) ?? [];
  const scope = /^.*node_modules\/@[^/]+\//.exec(folder)?.[0];
  const sibling = siblings.find((one) => scope !== undefined && one.startsWith(scope) && textIn(one, isNotice) !== '');
  return textIn(folder, isNotice) || section.trim() || (sibling === undefined ? '' : textIn(sibling, isNotice));
}

export function listOf(packages: readonly Licensed[]): string {
  const rows = packages.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`);
  return ['| package | version | licence |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The text in the server's package: everything that it installs, and the notices of what it ships itself. */
export function thirdParty(bundled: readonly Bundled[]): string {
  return ['# Third-party software', '## Installed with the gateway', listOf(installedPackages()), partOf(bundled)].join(
    '\n\n',
  );
}

/** The text in a package that installs nothing. */
export function noticesOf(bundled: readonly Bundled[]): string {
  return ['# Third-party software', partOf(bundled)].join('\n\n');
}

function partOf(bundled: readonly Bundled[]): string {
  const notices = bundled
    .filter(({ notice }) => notice !== '')
    .map(({ name, version, notice }) => `### ${name} ${version}\n\n\`\`\`text\n${notice}\n\`\`\``);
  return ['## Part of its programs and pages', listOf(bundled), ...notices, ''].join('\n\n');
}
