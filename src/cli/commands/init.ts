/** `ftg init`: creates a gateway.yaml from questions at a terminal, or from options. */
import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { camel } from '../../base/letters.js';
import type { Mistake } from '../../config/mistakes.js';
import type { Definition } from '../../contract/connection/definition.js';
import { type Field, fieldsOf, configKeysOf } from '../../contract/connection/schemas.js';
import { CONNECTION_TYPES } from '../../contract/connection/types.js';
import type { Arguments, Context } from '../command.js';
import { FIELD_OPTIONS } from '../connection-options.js';
import { UsageError } from '../exit-codes.js';
import {
  type Answers,
  type ConnectionAnswers,
  type Question,
  QUESTIONS,
  type Secrets,
  treeOf,
} from '../init/answers.js';
import { envOf, keptSecrets, mistakesIn, store, yamlOf } from '../init/files.js';
import { ask, readSecret } from '../secrets.js';
import { exists } from '../store.js';

type Options = Readonly<Record<string, unknown>> & {
  readonly envFile?: string | false;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly sandbox?: boolean;
  readonly type?: string;
  readonly id?: string;
};

export async function init(context: Context, [file = 'gateway.yaml']: Arguments, options: Options): Promise<void> {
  const { out } = context;
  const isAsking = options.yes !== true && Boolean(process.stdin.isTTY);
  const isThere = existsSync(file);
  if (isThere && options.force !== true && !(isAsking && (await agrees(context, `${file} exists. Replace it`))))
    throw Object.assign(exists(file), { hint: '--force replaces it' });
  const answers = await new Interview(context, options, isAsking).answers();
  const envFile = options.envFile === false ? undefined : (options.envFile ?? file.replace(/(\.ya?ml)?$/, '.env'));
  const kept = envFile === undefined ? {} : keptSecrets(envFile);
  const made = treeOf(answers);
  const secrets: Secrets = { ...made.secrets, ...kept, ...made.given };
  const start = `ftg serve --config ${file}${envFile === undefined ? '' : ` --env-file ${envFile}`}`;
  const head = headOf(start, envFile);
  const yaml = yamlOf(made.tree, answers.connection?.definition, head);
  refuse(await mistakesIn(yaml, secrets));
  const env = envFile === undefined ? undefined : envOf({ secrets }, file);
  if (envFile !== undefined && env !== undefined) await store(envFile, env, true, true);
  await store(file, yaml, isThere, false);
  const variables = Object.keys(secrets);
  out.show({ config: file, envFile: envFile ?? null, variables, start }, () => {
    const needed = `set ${variables.join(', ')} in the environment, then start it: ${start}`;
    if (envFile === undefined) return `${file} is written; ${needed}`;
    return `${file} and ${envFile} are written\nstart it: ${start}\nthe password of the dashboard and the API key are in ${basename(envFile)}`;
  });
}

function headOf(start: string, envFile: string | undefined): string {
  const secrets = envFile === undefined ? 'the environment' : envFile;
  return [
    ` Configuration of the File Transfer Gateway. Start it: ${start}`,
    ` Secrets are not in here: \${NAME} takes a variable from ${secrets}.`,
    ' All keys with their defaults are in config/gateway.example.yaml.',
  ].join('\n');
}

async function agrees({ signal }: Context, question: string): Promise<boolean> {
  return /^y/i.test(await ask(`${question}? (y/n)`, { isHidden: false, signal }));
}

/** Names the options if there are any. @throws UsageError */
function refuse(mistakes: readonly Mistake[]): void {
  if (mistakes.length === 0) return;
  throw new UsageError(mistakes.map(mistakeText).join('\n'));
}

function mistakeText({ path, found, allowed }: Mistake): string {
  return `${flagOf(path) ?? path}: found ${found}; allowed: ${allowed}`;
}

const CONNECTION = 'accounts[0].connections[0].';

function flagOf(path: string): string | undefined {
  const question = QUESTIONS.find(({ paths }) => paths.includes(path));
  if (question !== undefined) return question.flag;
  if (!path.startsWith(CONNECTION)) return undefined;
  const [key = ''] = path.slice(CONNECTION.length).split(/[.[]/);
  const field = FIELD_OPTIONS.find((one) => one.field === key || `${one.field}File` === key || `${key}s` === one.field);
  return field?.option.long ?? `--${key}`;
}

/** Takes answers from the options, and asks for the missing ones at a terminal. */
class Interview {
  readonly #context: Context;
  readonly #options: Options;
  readonly #isAsking: boolean;

  constructor(context: Context, options: Options, isAsking: boolean) {
    this.#context = context;
    this.#options = options;
    this.#isAsking = isAsking;
  }

  async answers(): Promise<Answers> {
    const options = this.#options;
    let answers: Answers = {
      ...(Object.fromEntries(QUESTIONS.map(({ name, preset }) => [name, preset])) as Omit<
        Answers,
        'sandbox' | 'connection'
      >),
      sandbox: options.sandbox === true,
      connection: undefined,
    };
    for (const question of QUESTIONS) answers = { ...answers, [question.name]: await this.#answer(question, answers) };
    if (answers.email === '') throw new UsageError('--email: the e-mail address of the owner, who logs in with it');
    const sandbox =
      answers.sandbox || (this.#isAsking && (await agrees(this.#context, 'Add a sandbox server to try it')));
    return { ...answers, sandbox, connection: await this.#connection() };
  }

  async #answer(question: Question, answers: Answers): Promise<string> {
    const given = this.#options[camel(question.flag.slice(2))] as string | undefined;
    if (given !== undefined) return question.flag.endsWith('-file') ? readSecret(given) : given;
    if (!this.#isAsking || !question.isAsked) return question.preset;
    const { text, preset, isHidden = false, name, paths } = question;
    for (;;) {
      const typed = await ask(preset === '' ? text : `${text} [${preset}]`, this.#asking(isHidden));
      const value = typed.trim() === '' ? preset : typed.trim();
      const { tree, secrets } = treeOf({ ...answers, [name]: value });
      const wrong = (await mistakesIn(yamlOf(tree, undefined, ''), secrets)).filter(({ path }) => paths.includes(path));
      if (wrong.length === 0) return value;
      for (const mistake of wrong) this.#context.out.note(`  ${mistake.found}; allowed: ${mistake.allowed}`);
    }
  }

  async #connection(): Promise<ConnectionAnswers | undefined> {
    const options = this.#options;
    const types = CONNECTION_TYPES.map(({ type }) => type);
    const type =
      options.type ?? (this.#isAsking ? await this.#text(`First connection: ${types.join(', ')} or none`) : '');
    if (type === '' || type === 'none') {
      const stray = FIELD_OPTIONS.find(({ option }) => options[option.attributeName()] !== undefined);
      if (stray !== undefined) throw new UsageError(`${stray.option.long ?? ''} needs --type`);
      return undefined;
    }
    const definition = CONNECTION_TYPES.find((one) => one.type === type);
    if (definition === undefined) throw new UsageError(`--type: one of ${types.join(', ')}`);
    const id = options.id ?? (this.#isAsking ? await this.#text('Id of the connection, such as warehouse') : type);
    return { definition, id, ...(await this.#fields(definition)) };
  }

  /** Asks for required fields and secrets; options can set any field of the file. */
  async #fields(definition: Definition): Promise<Pick<ConnectionAnswers, 'values' | 'secrets'>> {
    const keys = new Set(configKeysOf(definition).map(({ key }) => key));
    const values: Record<string, unknown> = {};
    const secrets: Record<string, string> = {};
    for (const { option, field, part, isFile } of FIELD_OPTIONS) {
      const value = this.#options[option.attributeName()] as string | number | boolean | readonly string[] | undefined;
      if (value === undefined) continue;
      const key = field === 'hostKeys' ? 'hostKey' : field;
      const long = option.long ?? field;
      if (isFile && keys.has(`${key}File`)) values[`${key}File`] = localFile(long, value as string);
      else if (!keys.has(key))
        throw new UsageError(`${long} is not for a configuration file of type ${definition.type}`);
      else if (isFile) secrets[part === undefined ? key : `${key}.${part}`] = await readSecret(value as string);
      else values[key] = part === undefined ? value : { ...(values[key] as object | undefined), [part]: value };
    }
    if (!this.#isAsking) return { values, secrets };
    for (const field of fieldsOf(definition)) {
      const { name, texts, isRequired, isSecret } = field;
      const title = texts.label;
      const isGiven = name in values || name in secrets || `${name}File` in values || name === 'name';
      if (isGiven || field.isAdvanced === true || field.isHarmless === true || !keys.has(name)) continue;
      if (isSecret && keys.has(`${name}File`)) {
        const path = await this.#text(`${title}: its file, empty for none`);
        if (path !== '') values[`${name}File`] = resolve(path);
      } else if (isSecret) {
        const typed = await ask(`${title}${isRequired ? '' : ', empty for none'}`, this.#asking(true));
        if (typed !== '') secrets[name] = typed;
      } else {
        const value = await this.#value(field);
        if (value !== undefined) values[name] = value;
      }
    }
    return { values, secrets };
  }

  /** undefined: the default. */
  async #value({ texts, hint, schema }: Field): Promise<string | number | undefined> {
    const {
      default: preset,
      enum: choices,
      type,
    } = schema as {
      readonly default?: string | number | boolean | null;
      readonly enum?: readonly string[];
      readonly type?: string | readonly string[];
    };
    if (typeof preset === 'boolean') return undefined;
    const among = choices === undefined ? '' : ` (${choices.join(', ')})`;
    const shown =
      preset === undefined ? '' : preset === null || preset === '' ? `, or nothing: ${hint}` : ` [${preset}]`;
    const typed = await this.#text(`${texts.label}${among}${shown}`);
    if (typed === '') return undefined;
    return type?.includes('integer') === true ? Number(typed) : typed;
  }

  async #text(question: string): Promise<string> {
    return (await ask(question, this.#asking(false))).trim();
  }

  #asking(isHidden: boolean): { readonly isHidden: boolean; readonly signal: AbortSignal } {
    return { isHidden, signal: this.#context.signal };
  }
}

/** The gateway reads it at every start, from any folder. @throws UsageError */
function localFile(option: string, file: string): string {
  if (file === '-') throw new UsageError(`${option}: the configuration names the file, which must stay`);
  return resolve(dirname(file), basename(file));
}
