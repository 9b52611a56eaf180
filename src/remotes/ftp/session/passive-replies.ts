/** Reads the port in a reply to EPSV or PASV. */

/** `229 … (|||40123|)`; the server chooses the delimiter (RFC 2428, 3). */
export function parseExtendedPort(text: string): number | undefined {
  const port = /([!-~])\1\1(\d{1,5})\1/.exec(text)?.[2];
  return port === undefined ? undefined : Number(port);
}

/** `227 … (h1,h2,h3,h4,p1,p2)`. The address is ignored: behind NAT it is wrong, and it could point anywhere. */
export function parsePort(text: string): number | undefined {
  const bytes = /(?<!\d)\d{1,3},\d{1,3},\d{1,3},\d{1,3},(\d{1,3}),(\d{1,3})(?!\d)/.exec(text);
  if (bytes === null) return undefined;
  const [high, low] = [Number(bytes[1]), Number(bytes[2])];
  return high > 255 || low > 255 ? undefined : high * 256 + low;
}
