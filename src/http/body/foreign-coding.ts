/**
 * Bodies are stored as they arrive: with a content coding (RFC 9110, 8.4) the file would differ from what its name
 * says.
 */
import { GatewayError } from '../../base/errors.js';

/** The error for a body whose coding would be stored in place of the file. */
export class ForeignCoding extends GatewayError {
  constructor(coding: string) {
    const text = `Content-Encoding ${coding.slice(0, 40)}: send the bytes as they are, without a content coding`;
    super('unsupported_media_type', text, { step: 'request' });
  }
}

/** `codings`: the value of a Content-Encoding field. @throws ForeignCoding */
export function requireIdentity(codings: string | undefined): void {
  for (const coding of (codings ?? '').split(',').map((name) => name.trim())) {
    if (coding !== '' && coding.toLowerCase() !== 'identity') throw new ForeignCoding(coding);
  }
}
