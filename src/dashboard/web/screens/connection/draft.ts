/** The form of a connection and its requests. The gateway defines the fields, and the contract their texts. */
import { type FormField, formFieldsIn } from '../../../../contract/form.ts';
import type { FieldTexts } from '../../../../contract/thing.ts';
import type { Connection, ConnectionType } from '../../api/types.ts';
import { changesOf, type Draft } from '../../ui/draft.ts';
import { type FormState, useForm } from '../../ui/form.tsx';

/** The gateway's schema of a field. */
type Schema = Parameters<typeof formFieldsIn>[1];
type Shape = Omit<Schema, 'oneOf'> & {
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly writeOnly?: boolean;
  readonly oneOf?: readonly (Schema & { readonly title?: string })[];
};

interface FormShape {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Shape>>;
  readonly examples?: readonly Readonly<Record<string, unknown>>[];
}

export interface ConnectionForm {
  readonly form: FormState;
  readonly types: readonly ConnectionType[];
  /** The chosen type. */
  readonly type: ConnectionType;
  /** The stored connection; undefined for a new one. */
  readonly known: Connection | undefined;
  /** All values of the form. Secrets are included only if they were typed. */
  readonly input: Values;
  /** The fields of an edit that differ from the stored ones. */
  readonly changes: Values;
}

type Values = Readonly<Record<string, unknown>>;

/** Fields that belong to one login method. */
const OF_LOGIN: Readonly<Record<string, string>> = { privateKey: 'key', passphrase: 'key', keyPairId: 'pair' };

export const shapeOf = ({ schema }: ConnectionType): FormShape => schema as object as FormShape;

/** The names of the type's fields in order. `isActive` has its own button. */
export const namesOf = (type: ConnectionType): readonly string[] =>
  Object.keys(shapeOf(type).properties).filter((name) => name !== 'isActive');

export const hasLogins = (type: ConnectionType): boolean => namesOf(type).some((name) => name in OF_LOGIN);

/** The field's value in the example configuration. Secrets are variables there. */
export function exampleOf(type: ConnectionType, name: string): string | undefined {
  const { examples: [example = {}] = [], properties } = shapeOf(type);
  const words = example[name];
  if (typeof words === 'string' && !words.includes('${')) return words;
  const usual = properties[name]?.default;
  return typeof usual === 'string' || typeof usual === 'number' ? String(usual) : undefined;
}

function fieldsOf(type: ConnectionType): readonly FormField[] {
  const { properties, required } = shapeOf(type);
  return namesOf(type).flatMap((name) => {
    const { [name]: shape = {} } = properties;
    const { default: usual, writeOnly: isSecret = false } = shape;
    const kind = isSecret ? 'secret' : (shape.type ?? '').includes('array') ? 'words' : undefined;
    return formFieldsIn(name, shape, {
      isNeeded: required.includes(name) && !isSecret,
      // An empty number means the protocol's default.
      default: typeof usual === 'number' ? undefined : usual,
      input: type.multiline.includes(name) ? 'long' : kind,
    });
  });
}

/** The fields of all types, each name once. */
function fieldsOfAll(types: readonly ConnectionType[]): readonly FormField[] {
  return [
    ...new Map(types.toReversed().flatMap((type) => fieldsOf(type).map((field) => [field.name, field]))).values(),
  ];
}

function textsOf(types: readonly ConnectionType[], name: string): FieldTexts | undefined {
  const [of = '', part] = name.split('.');
  const shape = types.map((type) => shapeOf(type).properties[of]).find((one) => one !== undefined);
  if (shape === undefined || part !== undefined) return undefined;
  const { title: label = name, description: hint, oneOf = [] } = shape;
  const choices = Object.fromEntries(oneOf.map(({ const: value = '', title = value }) => [value, title]));
  return { label, ...(hint === undefined ? {} : { hint }), choices };
}

/** The values of a new connection. Empty texts mean the defaults. */
function startOf(types: readonly ConnectionType[], fields: readonly FormField[]): Draft {
  const texts = fields.filter(({ default: usual }) => typeof usual === 'string');
  const example = (name: string): string =>
    types.map((type) => exampleOf(type, name)).find((words) => words !== undefined) ?? '';
  return Object.fromEntries(texts.map(({ name, input }) => [name, input === 'choice' ? example(name) : '']));
}

export function useConnectionForm(types: readonly ConnectionType[], known?: Connection): ConnectionForm {
  const fields = fieldsOfAll(types);
  const typeOf = ({ type }: Draft): ConnectionType => types.find((one) => one.type === type) ?? NO_TYPE;
  // Learned host keys are not input of the owner.
  const former = known?.hostKeysLearned === true ? { ...known, hostKeys: undefined } : known;
  const form = useForm(['connection'], {
    fields,
    former,
    keepAs: known === undefined ? 'connection' : undefined,
    texts: (name) => textsOf(types, name),
    start: {
      ...(known === undefined ? startOf(types, fields) : {}),
      type: known?.type ?? types[0]?.type ?? '',
      id: known?.id ?? '',
      loginWith: known?.keyPairId ? 'pair' : known?.secrets['privateKey'] === true ? 'key' : 'password',
    },
    asks: (name, draft) =>
      namesOf(typeOf(draft)).includes(name) && (OF_LOGIN[name] ?? draft['loginWith']) === draft['loginWith'],
  });
  const { draft, asks } = form;
  const type = typeOf(draft);
  /** The fields of the other login methods. Their stored values are removed. */
  const others = namesOf(type).filter((name) => !asks(name));
  const gone = others.filter((name) => known?.secrets[name] === true || (name === 'keyPairId' && known?.keyPairId));
  const taken = Object.fromEntries(gone.map((name) => [name, null]));
  const id = String(draft['id']).trim();
  const answers = form.answers();
  const isLearned =
    known?.hostKeysLearned === true && (answers['hostKeys'] as readonly string[] | undefined)?.length === 0;
  return {
    form,
    types,
    type,
    known,
    input: {
      type: type.type,
      ...(id === '' ? {} : { id }),
      ...answers,
      ...taken,
      ...(isLearned ? { hostKeys: undefined } : {}),
    },
    changes: { ...(known === undefined ? {} : changesOf(fields, draft, former ?? {}, asks)), ...taken },
  };
}

const NO_TYPE: ConnectionType = {
  type: '',
  title: '',
  schema: { properties: {}, required: [] },
  advanced: [],
  multiline: [],
  address: [],
  sent: [],
};

export const withPin = (draft: Draft, fingerprint: string): Draft => ({
  hostKeys: `${String(draft['hostKeys'] ?? '')}\n${fingerprint}`.trim(),
});
