/** What every command is given, the way from commander's call to it, and how the values of options are read. */
import { type Command, InvalidArgumentError } from 'commander';
import { Exit } from './exit-codes.js';
import { type Gateway, openGateway } from './gateway.js';
import { Output } from './output.js';
import { withHint } from './hints.js';
import { findAccess } from './profiles.js';

/** Options of all commands. */
interface GlobalOptions {
  readonly json?: boolean;
  readonly profile?: string;
}

export interface Context {
  readonly out: Output;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  readonly options: GlobalOptions;
}

/** A command that talks to a gateway. */
export interface Session extends Context {
  readonly gateway: Gateway;
}

export type Arguments = readonly (string | undefined)[];
type Action<C, O> = (context: C, args: Arguments, options: O) => Promise<void>;
type ManyAction<C, O> = (context: C, args: readonly string[], options: O) => Promise<void>;

/** Makes commands whose actions get a context in place of commander's own arguments. */
export class Actions {
  constructor(private readonly signal: AbortSignal) {}

  /** Without a gateway. */
  local<O>(command: Command, action: Action<Context, O>): void {
    command.action(async (...given: unknown[]) => {
      const { context, args, options } = this.taken<O>(command, given);
      await action(context, args as Arguments, options);
    });
  }

  /** `failure`: how it ends whatever the reason, where its own exit codes say something else. */
  remote<O>(command: Command, action: Action<Session, O>, failure?: number): void {
    this.local<O>(command, async (context, args, options) => {
      const session = this.session(context);
      try {
        await action(session, args, options);
      } catch (thrown) {
        const words = args.flat().filter((one) => one !== undefined);
        const error = await withHint(thrown, { command, session, args: words });
        if (failure === undefined || error instanceof Exit || session.signal.aborted) throw error;
        session.out.fail(error);
        throw new Exit(failure);
      }
    });
  }

  /** Of commands whose arguments are one list. */
  many<O>(command: Command, action: ManyAction<Session, O>, failure?: number): void {
    this.remote<O>(command, (session, args, options) => action(session, args.flat() as string[], options), failure);
  }

  session(context: Context): Session {
    const access = findAccess(process.env, context.options.profile);
    return { ...context, gateway: openGateway(access, this.signal) };
  }

  private taken<O>(command: Command, given: readonly unknown[]) {
    const options = command.optsWithGlobals<GlobalOptions & O>();
    const context: Context = { out: new Output(options.json === true), signal: this.signal, options };
    // The last two are the options and the command itself.
    return { context, args: given.slice(0, -2), options: options as O };
  }
}

export function number(least: number, most: number) {
  return (text: string): number => {
    const value = text.trim() === '' ? NaN : Number(text);
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}

export function orNone(parse: (text: string) => number) {
  return (text: string): number | 'none' => (text === 'none' ? text : parse(text));
}

export function flag(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('Allowed choices are true, false.');
}

/** As rclone takes them: 512K, 10M, 1.5G (of 1,024); without a letter bytes. */
export function bytes(text: string): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([kmgt]?)$/i.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('It must be bytes, such as 512K or 10M.');
  return Math.round(Number(amount) * 1024 ** ['', 'k', 'm', 'g', 't'].indexOf(unit.toLowerCase()));
}

const AGE_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** In seconds, as rclone takes them: 90s, 30m, 12h, 7d, 2w; without a letter seconds. */
export function age(text: string): number {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)([smhdw]?)$/i.exec(text) ?? [];
  const seconds = AGE_UNITS[unit === '' ? 's' : unit.toLowerCase()];
  if (amount === undefined || seconds === undefined) {
    throw new InvalidArgumentError('It must be an age, such as 90s, 12h or 7d.');
  }
  return Math.round(Number(amount) * seconds);
}

/** Of options that may be given several times. */
export function gathered(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
