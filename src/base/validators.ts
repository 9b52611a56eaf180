/**
 * Functions that check a value against a JSON Schema. The build compiles those of the endpoints and of the
 * configuration (src/build/validators.ts), each into a file whose name is the digest of its schema and options, and
 * which is read at its first use. A schema without a file is compiled when it is used.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Ajv, CodeOptions, ValidateFunction } from 'ajv';
import type * as ajvModule from 'ajv';
import type * as ajvFormats from 'ajv-formats';
import { FORMATS } from './formats.js';
import { inPackage } from './package-root.js';

/**
 * strict: a JSON body. coerced: text of a query or a form, which is converted to the schema's types. config:
 * gateway.yaml, with all mistakes.
 */
export type ValidatorKind = 'strict' | 'coerced' | 'config';

export const VALIDATORS = 'dist/validators';
/** Increase it if a file made from the same schema would differ: with other options or another version of ajv. */
const EDITION = 'ajv 8.20.0, 1';

const OPTIONS: Readonly<Record<ValidatorKind, object>> = {
  strict: { allErrors: false, useDefaults: true, strictTypes: false },
  coerced: { allErrors: false, useDefaults: true, coerceTypes: true, strictTypes: false },
  config: { allErrors: true, verbose: true, useDefaults: true, discriminator: true, allowUnionTypes: true },
};
/** The formats of ajv that the configuration uses. */
export const USUAL_FORMATS = ['email', 'date-time'] as const;

const require = createRequire(import.meta.url);
const compilers = new Map<ValidatorKind, Ajv>();

export function validatorOf<T>(schema: object, kind: ValidatorKind): ValidateFunction<T> {
  const file = fileURLToPath(inPackage(`${VALIDATORS}/${validatorName(schema, kind)}.cjs`));
  if (existsSync(file)) return require(file) as ValidateFunction<T>;
  let compiler = compilers.get(kind);
  // Optimizing code that runs once or twice in a process takes longer than it saves.
  if (compiler === undefined) compilers.set(kind, (compiler = createAjv(kind, { optimize: kind !== 'config' })));
  return compiler.compile<T>(schema);
}

export function validatorName(schema: object, kind: ValidatorKind): string {
  return createHash('sha256')
    .update(JSON.stringify([EDITION, kind, schema]))
    .digest('base64url')
    .slice(0, 22);
}

/** `code`: the options of the compiler. Loads ajv. */
export function createAjv(kind: ValidatorKind, code: CodeOptions): Ajv {
  const { Ajv } = require('ajv') as typeof ajvModule;
  const ajv = new Ajv({ ...OPTIONS[kind], code });
  if (kind === 'config') {
    (require('ajv-formats') as typeof ajvFormats).default.default(ajv, [...USUAL_FORMATS]);
    for (const [name, validate] of Object.entries(FORMATS)) ajv.addFormat(name, { type: 'string', validate });
  }
  return ajv;
}
