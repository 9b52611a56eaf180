/** The calls between the main thread and the threads of event loops. */
import type { AppDescriptor } from 'uWebSockets.js';
import type { Config } from '../../config/schema.js';
import type { Failures, Taken } from '../../http/rate-limits.js';
import type { MetricsSnapshot } from '../../observe/metrics.js';
import type { ByteRates } from '../../shares/byte-rates.js';
import type { FromBroker, ToBroker } from '../../shares/share-messages.js';
import type { SandboxPart } from '../../sandbox/sink.js';
import type { Acceptors } from '../application.js';
import type { carried } from './line.js';

/** The start data of a thread. */
export interface ThreadData {
  /** From 2, because the main thread is the first; shown in log lines. */
  readonly thread: number;
  readonly threads: number;
  /** For this thread: its part of the process's resources. */
  readonly config: Config;
  /** If the process runs one. */
  readonly sandbox: Omit<SandboxPart, 'received'> | undefined;
}

type Listener = keyof Acceptors<unknown>;

/** Served by the main thread. */
export type MainCalls = {
  readonly join: (listener: Listener, descriptor: AppDescriptor) => void;
  readonly leave: (listener: Listener, descriptor: AppDescriptor) => void;
  readonly share: (message: ToBroker) => void;
  readonly takeBytes: ByteRates['take'];
  readonly leaveRate: ByteRates['leave'];
  readonly takeRequest: (keyId: string) => Promise<Taken>;
  readonly takeFailure: (address: string) => ReturnType<Failures['take']>;
  readonly giveFailureBack: (address: string) => Promise<void>;
  /** The metrics of the process. */
  readonly metrics: () => Promise<string>;
  /** The requests that the sandbox's receiver of webhooks got. */
  readonly received: () => ReturnType<SandboxPart['received']>;
  readonly readyAsked: () => void;
  /** An error escaped; the thread waits for its end. */
  readonly crashed: (error: ReturnType<typeof carried>) => void;
};

/** Served by each thread. */
export type ThreadCalls = {
  /** Builds everything and joins the acceptor. */
  readonly start: () => Promise<void>;
  /** The listening port of the process: connections must not lead back to it. */
  readonly listening: (port: number) => void;
  readonly share: (message: FromBroker) => void;
  readonly metrics: () => Promise<MetricsSnapshot>;
  readonly reloadTls: () => void;
  /** No longer ready, but serving for `ms`. */
  readonly retire: (ms: number) => Promise<void>;
  /** Drains, stops every part, and then ends the thread. */
  readonly stop: () => Promise<void>;
  /** Closes every socket at once, and ends the thread. */
  readonly abandon: () => void;
};
