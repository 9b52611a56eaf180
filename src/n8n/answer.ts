/** What the gateway answered, as n8n's helper hands it over. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** A header field, by its name in small letters. */
export function field(headers: Answer['headers'], name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
