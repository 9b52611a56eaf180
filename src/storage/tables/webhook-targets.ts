/** Targets of webhooks: URLs without their secret parts. */

interface WebhookTarget {
  readonly url: string;
  readonly login: string | undefined;
}

/** A URL, and the part before its `@`. */
export function withoutLogin(text: string): WebhookTarget {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.username === '' && url.password === '')) return { url: text, login: undefined };
  const login = `${url.username}:${url.password}`;
  url.username = '';
  url.password = '';
  return { url: url.href, login };
}

export function withLogin(text: string, login: string | undefined): string {
  if (login === undefined) return text;
  const url = new URL(text);
  const colon = login.indexOf(':');
  url.username = login.slice(0, colon);
  url.password = login.slice(colon + 1);
  return url.href;
}

/** The receiver that deliveries of several events share: scheme, host and port. */
export function targetGroup(url: string | null): string {
  return url !== null && URL.canParse(url) ? new URL(url).origin : '';
}
