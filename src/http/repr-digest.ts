/** Digests of files in header fields (RFC 9530). */

/** Whether a Want-Repr-Digest field asks for SHA-256; a malformed field asks for nothing. */
export function wantsReprDigest(headers: ReadonlyMap<string, string>): boolean {
  const field = headers.get('want-repr-digest');
  if (field === undefined) return false;
  let isWanted = false;
  for (const member of field.split(',')) {
    const match = /^\s*([a-z*][a-z0-9_.*-]*)=(\d{1,2})\s*$/.exec(member);
    if (match === null || Number(match[2]) > 10) return false;
    // The last of several counts (RFC 9651, 3.2).
    if (match[1] === 'sha-256') isWanted = match[2] !== '0' && match[2] !== '00';
  }
  return isWanted;
}

/** The field of an answer, if a SHA-256 is known. */
export function reprDigest(digest: Buffer | undefined): Record<string, string> {
  return digest === undefined ? {} : { 'Repr-Digest': `sha-256=:${digest.toString('base64')}:` };
}
