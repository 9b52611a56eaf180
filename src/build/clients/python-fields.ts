/**
 * Gives the methods of the Python client the fields of their requests as keywords. A source of the client has a place
 * for them: `fields: Fields["MoveRequest", "from", "to"],` in the signature becomes one keyword for each field of that
 * schema, and `fields` in the body is a dictionary of their values, with the names of the API. The fields of a query
 * are those of `Fields["ListFolderQuery"]`. A method handles by itself the fields that are named there, and those with
 * the name of another of its parameters. `FieldOf["NewLink"]` is the type of the field with the parameter's name. A
 * field that takes a date-time takes a `datetime`, too. `PageSize["ListJobsQuery"]` is an int, and its default is the
 * largest page that the API allows, up to 1,000 items.
 */
import { capital, separated } from '../../base/letters.js';
import type { OpenApiDocument, Schema } from '../../api/openapi/types.js';
import { queryFieldType, typeInModule } from './python.js';
import { type Field, queriesOf, shapeOf } from './shapes.js';

/** A field of a request in Python. */
interface Keyword {
  /** Its name in the API. */
  readonly name: string;
  /** In snake case. */
  readonly keyword: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly schema: Schema;
}

/** The fields of a request, by the name of its schema. */
export type Requests = ReadonlyMap<string, readonly Keyword[]>;

export function requestsOf(document: OpenApiDocument): Requests {
  const bodies = Object.entries(document.components.schemas).flatMap(([schema, definition]) => {
    const shape = shapeOf(definition);
    if (shape.kind !== 'object') return [];
    const keywords = shape.fields.map((field) =>
      keywordOf(field, typeInModule(field.shape, schema + capital(field.name))),
    );
    return [[schema, keywords] as const];
  });
  const queries = queriesOf(document).map(({ operation, fields }) => {
    const keywords = fields.map((field) => keywordOf(field, queryFieldType(operation, field)));
    return [`${operation}Query`, keywords] as const;
  });
  return new Map([...bodies, ...queries]);
}

function keywordOf({ name, isRequired, schema }: Field, type: string): Keyword {
  const keyword = separated(name, '_');
  return { name, keyword, type: isTime(schema) ? TIME : type, isRequired, schema };
}

/** Requests take several forms of a time, so the words of the field name them, not its format. */
const isTime = ({ type, description }: Schema): boolean =>
  type === 'string' && /\bdate-time\b/.test(String(description));
const TIME = 'Time';

const DICTIONARY = 'Dict[str, Any]';
const SIGNATURE = /^( *)(?:async )?def \w+\(\n((?:\1 {4}.*\n)*)\1\) -> .*:\n(?:\1 {4}"""[^]*?"""\n)?/gm;
const PARAMETER = /^ *(\w+):/gm;
const PLACE = /^( *)(\w+): Fields\[(.+)\],\n/gm;
const TYPE = /(\w+): FieldOf\["(\w+)"\]/g;
const PAGE_SIZE = /(\w+): PageSize\["(\w+)"\]/g;
/** Longer pages delay the first item. */
const MOST_ITEMS = 1_000;

/** The text of a module with the fields of its requests. @throws Error if there is no such schema or field */
export function withFields(source: string, requests: Requests): string {
  const types: string[] = [];
  const text = source.replaceAll(SIGNATURE, (head: string, indent: string, parameters: string) => {
    const own = new Set([...parameters.matchAll(PARAMETER)].map(([, name = '']) => name));
    const values: string[] = [];
    const written = parameters
      .replaceAll(PLACE, (_, space: string, variable: string, words: string) => {
        own.delete(variable);
        const [schema = '', ...excluded] = words.split(', ').map((word) => word.replaceAll('"', ''));
        const fields = fieldsOf(requests, schema);
        for (const name of excluded) fieldNamed(fields, schema, 'name', name);
        const left = fields.filter(({ name, keyword }) => !excluded.includes(name) && !own.has(keyword));
        for (const { keyword } of left) own.add(keyword);
        types.push(DICTIONARY, ...left.map(parameterOf));
        values.push(dictionaryOf(variable, left, `${indent}    `));
        return left.map((field) => `${space}${parameterOf(field)},\n`).join('');
      })
      .replaceAll(TYPE, (_, keyword: string, schema: string) => {
        const { type } = fieldNamed(fieldsOf(requests, schema), schema, 'keyword', keyword);
        types.push(type);
        return `${keyword}: ${type}`;
      })
      .replaceAll(PAGE_SIZE, (_, keyword: string, schema: string) => {
        const { maximum } = fieldNamed(fieldsOf(requests, schema), schema, 'name', 'limit').schema;
        return `${keyword}: int = ${Math.min(Number(maximum), MOST_ITEMS)}`;
      });
    // No keyword is left behind the star.
    return head.replace(parameters, () => written.replace(/ *\*,\n$/, '')) + values.join('');
  });
  return types.length === 0 ? text : withImports(text, types.join());
}

function parameterOf({ keyword, type, isRequired }: Keyword): string {
  if (isRequired) return `${keyword}: ${type}`;
  return `${keyword}: ${type.startsWith('Optional[') ? type : `Optional[${type}]`} = None`;
}

function dictionaryOf(variable: string, fields: readonly Keyword[], indent: string): string {
  const start = `${indent}${variable}: ${DICTIONARY} = {`;
  if (fields.length === 0) return `${start}}\n`;
  const values = fields.map(({ name, keyword, type }) => {
    return `${indent}    "${name}": ${type === TIME ? `time_text(${keyword})` : keyword},\n`;
  });
  return `${start}\n${values.join('')}${indent}}\n`;
}

function fieldsOf(requests: Requests, schema: string): readonly Keyword[] {
  const fields = requests.get(schema);
  if (fields === undefined) throw new Error(`the API has no request ${schema}`);
  return fields;
}

function fieldNamed(fields: readonly Keyword[], schema: string, key: 'name' | 'keyword', value: string): Keyword {
  const found = fields.find((field) => field[key] === value);
  if (found === undefined) throw new Error(`${schema} has no field ${value}`);
  return found;
}

const TYPING = /\b(Any|Dict|List|Literal|Optional|Union)\b/g;

/** Imports the names that these types use. */
function withImports(text: string, types: string): string {
  const used: readonly string[] = types.match(TYPING) ?? [];
  const typed = text.replace(/^from typing import (.+)$/m, (_, names: string) => {
    return `from typing import ${[...new Set([...names.split(', '), ...used])].sort().join(', ')}`;
  });
  const timed = types.split(/\W+/).includes(TIME)
    ? typed.replace(/^from \.\._calls import (.+)$/m, `from .._calls import ${TIME}, $1, time_text`)
    : typed;
  const isUnknown = /\bapi\./.test(types) && !/^from \.\. import types as api$/m.test(timed);
  return isUnknown ? timed.replace(/^from \.\./m, 'from .. import types as api\nfrom ..') : timed;
}
