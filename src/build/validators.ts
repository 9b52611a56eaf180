/** Compiles the schemas of the endpoints and of the configuration to dist/validators (base/validators.ts). */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { _ } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build, type Plugin } from 'esbuild';
import { FORMATS } from '../base/formats.js';
import { listCheckers } from '../base/schema-check.js';
import { createAjv, USUAL_FORMATS, type ValidatorKind, validatorName, VALIDATORS } from '../base/validators.js';
import { ROOT } from './root.js';

interface Compiled {
  readonly schema: object;
  readonly kind: ValidatorKind;
}

/** Every schema that is known at build time. */
export async function knownSchemas(): Promise<readonly Compiled[]> {
  const found: Compiled[] = [];
  listCheckers((schema, kind) => found.push({ schema, kind }));
  // Modules register their checkers when they are loaded; routes when a router gets them.
  const { describedRoutes } = await import('../docs/route-table.js');
  const { checkersOf } = await import('../http/router.js');
  describedRoutes().forEach(checkersOf);
  listCheckers(undefined);
  const { configSchema } = await import('../config/schema.js');
  const { CONNECTION_TYPES } = await import('../contract/connection/types.js');
  return [...found, { schema: configSchema(CONNECTION_TYPES), kind: 'config' }];
}

/** The formats in the form that generated code requires. */
const FORMATS_MODULE = 'formats of the gateway';
const formatsModule: Plugin = {
  name: FORMATS_MODULE,
  setup: (building) => {
    building.onResolve({ filter: new RegExp(`^${FORMATS_MODULE}$`) }, ({ path }) => ({ path, namespace: 'formats' }));
    building.onLoad({ filter: /./, namespace: 'formats' }, () => ({
      resolveDir: join(ROOT, 'src/base'),
      contents: [
        "import { fullFormats } from 'ajv-formats/dist/formats.js';",
        "import { FORMATS } from './formats.ts';",
        `for (const name of ${JSON.stringify(USUAL_FORMATS)}) exports[name] = fullFormats[name];`,
        `for (const name of ${JSON.stringify(Object.keys(FORMATS))}) exports[name] = { type: 'string', validate: FORMATS[name] };`,
      ].join('\n'),
    }));
  },
};

/** The text of a module that exports the validator function. */
function compiledText({ schema, kind }: Compiled): string {
  const ajv = createAjv(kind, { source: true, formats: _`require(${FORMATS_MODULE})` });
  return standalone.default(ajv, ajv.compile(schema));
}

/** Writes missing validators to `folder`, and removes unknown ones. */
export async function compileSchemas(known: readonly Compiled[], folder = join(ROOT, VALIDATORS)): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const wanted = new Map(known.map((one) => [`${validatorName(one.schema, one.kind)}.cjs`, one]));
  for (const name of readdirSync(folder)) if (!wanted.has(name)) rmSync(join(folder, name));
  const missing = [...wanted].filter(([name]) => !existsSync(join(folder, name)));
  await Promise.all(
    missing.map(([name, one]) =>
      build({
        stdin: { contents: compiledText(one), resolveDir: ROOT },
        outfile: join(folder, name),
        bundle: true,
        format: 'cjs',
        platform: 'node',
        minify: true,
        plugins: [formatsModule],
      }),
    ),
  );
}
