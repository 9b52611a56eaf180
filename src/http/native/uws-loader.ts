import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type * as uWebSockets from 'uWebSockets.js';

export type UwsModule = typeof uWebSockets;

/** Two builds of the same front end: the newer one needs a newer Node.js and C library. */
const BUILDS = ['uWebSockets.js', 'uWebSockets.js-compat'] as const;
const BINARY = 'uws.node';
const MAX_HEADER_BYTES = 32_768;

/**
 * SHA-256 of the native binaries that were read and tested. The lock file has checksums of these packages only; the
 * registry gave none for the packages of other platforms, so their binaries are loaded only if the operator asks for
 * them.
 */
const KNOWN_BINARIES: ReadonlySet<string> = new Set([
  // linux-x64 20.51.4: Node.js 18, 20, 22, 23
  '3207c4249038846165d8599c3811cfca0540fa68c94dcb58c96905cf117a5ddc',
  '4d482084b665c225892917ee0e9b9572d89eaa6f3dc200ff5e536293d3456c89',
  'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
  'ed86f2297e70febcc89138818c2ca503dad29783bc4bba2aa7cc6d9beba70739',
  // linux-x64 20.69.0: Node.js 22, 24, 26
  '34d235864db874fbf3aeafd48b63f6fb80f61fb584a86f1e5f7b0291dbd7a3d4',
  '177efdc682425d754474bd30f9586c487fa6694f790f3406a23885d0e61c07a0',
  '604375741bf77780b34e7e299af9274cb1f56d73732201d19e3d8d8448176795',
]);

/** Loading runs a binary's code, so its checksum is compared first. */
export type BinaryTrust = 'known' | 'any';

/**
 * Loads the newest build that this system can run; `build` is package and version of its native binary. Throws an Error
 * of one line if none runs, or if `trust` is 'known' and the binary is not a tested one.
 */
export function loadUws(
  builds: readonly string[] = BUILDS,
  trust: BinaryTrust = 'any',
  known = KNOWN_BINARIES,
): { readonly uws: UwsModule; readonly build: string } {
  // Read once, when the native module loads.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(MAX_HEADER_BYTES);
  const require = createRequire(import.meta.url);
  let unknown: string | undefined;
  for (const wrapper of builds) {
    try {
      const entry = require.resolve(wrapper);
      if (!namesBinary(entry)) continue;
      if (trust === 'known' && !isKnown(entry, known)) {
        unknown = binaryPackage();
        continue;
      }
      const uws = require(wrapper) as UwsModule & { readonly _cfg?: (setting: 'silent') => void };
      // Answers do not name the server in a field.
      uws._cfg?.('silent');
      return { uws, build: loadedBinary(require) ?? wrapper };
    } catch {
      continue;
    }
  }
  if (unknown !== undefined) {
    throw new Error(`the checksum of ${unknown} is not a known one: server.frontEnd: uws loads it all the same`);
  }
  throw new Error(
    `no uWebSockets.js build runs on Node.js ${process.version}, ${process.platform} ${process.arch}: ` +
      'use Node.js 22, 24 or 26 with glibc 2.38 or newer, or Node.js 20 or 22 with glibc 2.27 or newer',
  );
}

/**
 * Both builds look for their binary under one name, so one could load the other's: each must name the binary as its
 * own.
 */
function namesBinary(entry: string): boolean {
  const { optionalDependencies } = JSON.parse(readFileSync(path.join(path.dirname(entry), 'package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  return binaryPackage() in optionalDependencies;
}

function isKnown(entry: string, known: ReadonlySet<string>): boolean {
  const main = createRequire(entry).resolve(binaryPackage());
  const bytes = readFileSync(path.join(path.dirname(main), BINARY));
  return known.has(createHash('sha256').update(bytes).digest('hex'));
}

function binaryPackage(): string {
  const [major] = process.versions.node.split('.');
  return `@uwsjs/${process.platform}-${process.arch}-${major}`;
}

/** The wrapper picks a package by platform and Node.js version, so only the loaded file shows which it was. */
function loadedBinary(require: NodeJS.Require): string | undefined {
  const file = Object.keys(require.cache).find((name) => path.basename(name) === BINARY);
  if (file === undefined) return undefined;
  const { name, version } = require(path.join(path.dirname(file), 'package.json')) as { name: string; version: string };
  return `${name}@${version}`;
}
