/** Schedules: jobs that start at set times. */
import { at, changingOnce, deleting, patching, reading } from './calls.js';
import type { CallOptions, Transport } from './transport.js';
import type * as api from './types.js';

const ALL = '/api/schedules';

type Answer = { readonly schedule: api.Schedule };

export class Schedules {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Oldest first. */
  async list(options: CallOptions = {}): Promise<readonly api.Schedule[]> {
    type Listed = { readonly schedules: readonly api.Schedule[] };
    return (await this.#transport.json<Listed>(reading(ALL, options))).schedules;
  }

  async get(id: string, options: CallOptions = {}): Promise<api.Schedule> {
    return (await this.#transport.json<Answer>(reading(at(ALL, id), options))).schedule;
  }

  async create(schedule: api.NewSchedule, options: CallOptions = {}): Promise<api.Schedule> {
    return (await this.#transport.json<Answer>(changingOnce(ALL, options, schedule))).schedule;
  }

  /** The next five times of a schedule. */
  async preview(times: api.NewPreview, options: CallOptions = {}): Promise<readonly string[]> {
    const call = { ...changingOnce(`${ALL}/preview`, options, times), repetition: 'repeatable' } as const;
    return (await this.#transport.json<api.PreviewAnswer>(call)).nextRuns;
  }

  /** Absent fields keep their values; `job` is replaced as a whole. */
  async change(id: string, changes: api.ScheduleChanges, options: CallOptions = {}): Promise<api.Schedule> {
    return (await this.#transport.json<Answer>(patching(at(ALL, id), options, changes))).schedule;
  }

  /** The jobs that it has started continue. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.json(deleting(at(ALL, id), options));
  }

  /** Starts its job now. */
  async run(id: string, options: CallOptions = {}): Promise<api.Job> {
    type Begun = { readonly job: api.Job };
    return (await this.#transport.json<Begun>(changingOnce(`${at(ALL, id)}/run`, options))).job;
  }
}
