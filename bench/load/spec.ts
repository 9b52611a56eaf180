/** The command line of a load process, and its output. */
import type { Target } from '../lab/target.js';

export type SmallOperation = 'upload' | 'download' | 'exists' | 'list';

/** `{n}` in the URL is replaced by a name that only this caller uses. */
export interface HttpCall {
  readonly kind: 'http';
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with each request, from this file. */
  readonly bodyFile?: string;
}

/** The libraries themselves, on sessions that stay open. */
export interface BareCall {
  readonly kind: 'bare';
  readonly target: Target;
  readonly operation: SmallOperation;
  readonly sessions: number;
  /** The name of the file or folder to look up, or the beginning of the names to write. */
  readonly name: string;
  readonly bodyFile: string;
}

export interface LoadSpec {
  readonly call: HttpCall | BareCall;
  readonly clients: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  /** Processor time of the load process itself. */
  readonly cpuSeconds: number;
}

/** `warm`: from now on it counts. */
export type WorkerWord = 'warm' | LoadResult | { readonly failure: string };

/** Names repeat after a while, so that no folder grows endlessly. */
const NAMES_OF_A_CLIENT = 20;
export const ownName = (client: number, turn: number): string => `${client}-${turn % NAMES_OF_A_CLIENT}`;

export interface Driver {
  /** One operation of one client, which has no other under way. Rejects unless it succeeded. */
  call(client: number, turn: number): Promise<void>;
  close(): void;
}
