/** The gateway's answer, as n8n's helper returns it. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** A header field, by its lower-case name. */
export function field(headers: Answer['headers'], name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
