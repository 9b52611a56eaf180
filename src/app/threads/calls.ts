/** What the main thread and the threads of event loops ask of each other. */
import type { AppDescriptor } from 'uWebSockets.js';
import type { Config } from '../../config/schema.js';
import type { Failures, Taken } from '../../http/rate-limits.js';
import type { MetricsSnapshot } from '../../observe/metrics.js';
import type { FromBroker, ToBroker } from '../../shares/share-messages.js';
import type { SandboxPart } from '../../sandbox/sink.js';
import type { carried } from './line.js';

/** What a thread is started with. */
export interface ThreadData {
  /** From 2, as the main thread is the first; in the log lines. */
  readonly thread: number;
  readonly threads: number;
  /** For this thread: what the process has is divided already. */
  readonly config: Config;
  /** Where the process runs one. */
  readonly sandbox: Omit<SandboxPart, 'received'> | undefined;
}

/** Served by the main thread. */
export type MainCalls = {
  readonly join: (descriptor: AppDescriptor) => void;
  readonly leave: (descriptor: AppDescriptor) => void;
  readonly share: (message: ToBroker) => void;
  readonly takeRequest: (keyId: string) => Promise<Taken>;
  readonly takeFailure: (address: string) => ReturnType<Failures['take']>;
  readonly giveFailureBack: (address: string) => Promise<void>;
  /** The metrics of the process. */
  readonly metrics: () => Promise<string>;
  /** What the sandbox's receiver of webhooks has. */
  readonly received: () => ReturnType<SandboxPart['received']>;
  readonly readyAsked: () => void;
  /** An error escaped; the thread waits for its end. */
  readonly crashed: (error: ReturnType<typeof carried>) => void;
};

/** Served by each thread. */
export type ThreadCalls = {
  /** Builds everything and joins the acceptor. */
  readonly start: () => Promise<void>;
  /** Where the process listens: no connection may lead back there. */
  readonly listening: (port: number) => void;
  readonly share: (message: FromBroker) => void;
  readonly metrics: () => Promise<MetricsSnapshot>;
  readonly reloadTls: () => void;
  /** No longer ready, but serving for `ms`. */
  readonly retire: (ms: number) => Promise<void>;
  /** Drains, ends every part, and then the thread. */
  readonly stop: () => Promise<void>;
  /** Closes every socket at once, and ends the thread. */
  readonly abandon: () => void;
};
