/**
 * Distributed traces as the program sees them (W3C Trace Context): the trace of a piece of work, and the header fields
 * of requests made on its behalf. observe/tracing.ts records them if the operator asks for it.
 */

/** Undefined values are omitted. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanStart {
  readonly kind?: 'server' | 'client' | 'internal';
  /** On the clock of performance.now(); absent = now. */
  readonly at?: number;
  readonly attributes?: SpanAttributes;
}

export interface SpanEnd {
  readonly attributes?: SpanAttributes;
  /** A short code; absent = success. */
  readonly error?: string | undefined;
  readonly at?: number;
  /** A better name than the original one. */
  readonly name?: string;
}

export interface Span {
  /** 32 hexadecimal digits, for log lines; undefined outside of any trace. */
  readonly traceId: string | undefined;
  /** Whether it is recorded: otherwise details that cost something need not be given. */
  readonly isRecorded: boolean;
  /** `traceparent` and `tracestate` for requests made on its behalf; empty outside of any trace. */
  readonly headers: Readonly<Record<string, string>>;
  child(name: string, start?: SpanStart): Span;
  /** Call once; later calls do nothing. */
  end(how?: SpanEnd): void;
}

export interface Tracer {
  /** `headers`: of the request that asked for the work, names in lower case. */
  begin(name: string, start: SpanStart, headers?: ReadonlyMap<string, string>): Span;
  /** Sends what is recorded; never rejects. */
  close(): Promise<void>;
}

/** Version, trace, parent, flags (W3C Trace Context, 3.2); a later version may have more after them. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-[\x21-\x7e]*)?$/;
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/**
 * Records nothing. The trace fields of a request are passed on unchanged, so that other services' traces are not
 * interrupted here.
 */
export const PASSING_ON: Tracer = {
  begin: (_name, _start, headers) => passingOn(headers),
  close: () => Promise.resolve(),
};

/** Outside of any trace. */
export const NO_SPAN: Span = {
  traceId: undefined,
  isRecorded: false,
  headers: {},
  child: () => NO_SPAN,
  end: () => undefined,
};

function passingOn(incoming: ReadonlyMap<string, string> | undefined): Span {
  const traceparent = incoming?.get('traceparent');
  const traceId = traceparent === undefined ? undefined : TRACEPARENT.exec(traceparent)?.[1];
  if (traceparent === undefined || traceId === undefined) return NO_SPAN;
  const tracestate = incoming?.get('tracestate') ?? '';
  const headers: Record<string, string> = { traceparent };
  if (TRACESTATE.test(tracestate)) headers['tracestate'] = tracestate;
  const span: Span = { ...NO_SPAN, traceId, headers, child: () => span };
  return span;
}
