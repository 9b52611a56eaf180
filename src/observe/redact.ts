/** A copy of the facts that may be logged: fields named like secrets are hidden at any depth. */
import { withSources } from '../base/source-positions.js';
import { HIDDEN, isSecretName } from '../config/secrecy.js';

const MAX_DEPTH = 8;
/** Fields of one line. A socket that is logged by mistake makes a short line, not a long pause. */
const MAX_FIELDS = 500;

export type Facts = Record<string, unknown>;

interface Budget {
  fields: number;
  readonly isSecret: (name: string) => boolean;
}

/** Errors become plain objects (type, message, stack, own fields, cause), buffers their size. */
export function redactFacts(facts: Facts, isSecret = isSecretName): Facts {
  const budget = { fields: MAX_FIELDS, isSecret };
  return Object.fromEntries(fieldsOf(facts, new Set([facts]), budget));
}

function fieldsOf(source: object, above: ReadonlySet<object>, budget: Budget): [string, unknown][] {
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(source)) {
    if (budget.fields-- <= 0) {
      fields.push(['…', 'more fields']);
      break;
    }
    const isHidden = budget.isSecret(name) && value !== undefined && value !== null && typeof value !== 'boolean';
    fields.push([name, isHidden ? HIDDEN : redact(value, above, budget)]);
  }
  return fields;
}

function redact(value: unknown, above: ReadonlySet<object>, budget: Budget): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (above.has(value)) return '[circular]';
  if (above.size > MAX_DEPTH) return '[deeper]';
  if (value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const inside = new Set(above).add(value);
  if (Array.isArray(value)) return fieldsOf(value, inside, budget).map(([, item]) => item);
  if (value instanceof Error) return redactError(value, inside, budget);
  if (value instanceof Map || value instanceof Set) return `[${value.constructor.name} of ${value.size}]`;
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return redact((value.toJSON as () => unknown)(), inside, budget);
  }
  return Object.fromEntries(fieldsOf(value, inside, budget));
}

function redactError(error: Error, inside: ReadonlySet<object>, budget: Budget): Facts {
  return {
    type: error.name,
    message: error.message,
    stack: error.stack === undefined ? undefined : withSources(error.stack),
    ...Object.fromEntries(fieldsOf(error, inside, budget).filter(([name]) => name !== 'name')),
    // Not enumerable, so not among the fields.
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, inside, budget) }),
    ...(error instanceof AggregateError ? { errors: redact(error.errors, inside, budget) } : {}),
  };
}
