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
 * Loads the newest build that this system can run; `build` is package and version of its native binary. Throws an Error
 * of one line when none does.
 */
export function loadUws(builds: readonly string[] = BUILDS): { readonly uws: UwsModule; readonly build: string } {
  // Read once, when the native module loads.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(MAX_HEADER_BYTES);
  const require = createRequire(import.meta.url);
  for (const wrapper of builds) {
    try {
      if (!namesBinary(require.resolve(wrapper))) continue;
      return { uws: require(wrapper) as UwsModule, build: loadedBinary(require) ?? wrapper };
    } catch {
      continue;
    }
  }
  throw new Error(
    `no uWebSockets.js build runs on Node.js ${process.version}, ${process.platform} ${process.arch}: ` +
      'use Node.js 22, 24 or 26 with glibc 2.38 or newer, or Node.js 20 or 22 with glibc 2.27 or newer',
  );
}

/** Both builds look for their binary under one name, so one could load the other's: each must name the binary as its own. */
function namesBinary(entry: string): boolean {
  const { optionalDependencies } = JSON.parse(readFileSync(path.join(path.dirname(entry), 'package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const [major] = process.versions.node.split('.');
  return `@uwsjs/${process.platform}-${process.arch}-${major}` in optionalDependencies;
}

/** The wrapper picks a package by platform and Node.js version, so only the loaded file tells which it was. */
function loadedBinary(require: NodeJS.Require): string | undefined {
  const file = Object.keys(require.cache).find((name) => path.basename(name) === BINARY);
  if (file === undefined) return undefined;
  const { name, version } = require(path.join(path.dirname(file), 'package.json')) as { name: string; version: string };
  return `${name}@${version}`;
}
