/** The input of every command, and its conversion from commander's call. */
import type { Command } from 'commander';
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

/** Makes commands of a group with the same argument. */
export const commandsOn = (group: Command, argument: string, about: string) => (name: string, text: string) =>
  group.command(name).description(text).argument(argument, about);

/** A command that asks the gateway once and shows the answer: unchanged, or for people as `text` formats it. */
export function shows<A, O = unknown>(
  ask: (session: Session, args: Arguments, options: O) => Promise<A>,
  text: (answer: A, id: string, out: Output) => string,
): Action<Session, O> {
  return async (session, args, options) => {
    const answer = await ask(session, args, options);
    session.out.show(answer, () => text(answer, args[0] ?? '', session.out));
  };
}

/** A command that deletes the thing with the given id. */
export const deletes = (remove: (session: Session, id: string) => Promise<unknown>) =>
  shows(
    async (session, [id = '']) => {
      await remove(session, id);
      return { success: true };
    },
    (_, id) => `${id} is gone`,
  );

/** Makes commands whose actions get a context instead of commander's own arguments. */
export class Actions {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Without a gateway. */
  local<O>(command: Command, action: Action<Context, O>): void {
    command.action(async (...given: unknown[]) => {
      const { context, args, options } = this.#taken<O>(command, given);
      await action(context, args as Arguments, options);
    });
  }

  /** `failure`: the exit code of every failure, for a command whose own exit codes have another meaning. */
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

  /** For commands whose arguments are one list. */
  many<O>(command: Command, action: ManyAction<Session, O>, failure?: number): void {
    this.remote<O>(command, (session, args, options) => action(session, args.flat() as string[], options), failure);
  }

  session(context: Context): Session {
    const access = findAccess(process.env, context.options.profile);
    return { ...context, gateway: openGateway(access, this.#signal) };
  }

  #taken<O>(command: Command, given: readonly unknown[]) {
    const options = command.optsWithGlobals<GlobalOptions & O>();
    const context: Context = { out: new Output(options.json === true), signal: this.#signal, options };
    // The last two are the options and the command itself.
    return { context, args: given.slice(0, -2), options: options as O };
  }
}
