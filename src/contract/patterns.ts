/** Patterns of texts in requests and the configuration. */

/** The pattern of an S3 region: one label of a host name, because the names of AWS's endpoints contain it. */
export const REGION = '^(?![xX][nN]--)[A-Za-z0-9_-]{1,63}$';

/**
 * The pattern of names: one line, without control characters for a terminal or a log (C0, DEL, C1, line separators).
 */
export const NAME = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$';

export const NAME_OR_EMPTY = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$';

/** One line: control characters would end up in commands, headers and terminals. */
export const LINE = '^[^\\u0000-\\u001f\\u007f]+$';
export const LINE_OR_EMPTY = '^[^\\u0000-\\u001f\\u007f]*$';
/** Without control characters, but for ends of lines. */
export const LINES = '^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f]+$';
export const ABSOLUTE = '^/[^\\u0000-\\u001f\\u007f]*$';

/** A key of 32 bytes, in base64. */
export const AES_KEY = '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$';

/** A host key. */
export const FINGERPRINT = '^SHA256:[A-Za-z0-9+/]{43}$';
export const SHA_256 = '^sha-256:[0-9A-Fa-f]{64}$';

/** The URL of a service: without a login, a query and a fragment. */
export const STS_URL = '^https?://[^\\s@?#\\\\]+$';

/** The URL of a proxy: protocol, host and port, without a login. */
export const PROXY_URL =
  '^(http|socks5)://([\\p{L}\\p{N}_.-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}\\]):(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})/?$';

/** The pattern of ids that users choose. */
export const SLUG = '^[a-z0-9][a-z0-9_-]{0,63}$';
export const SLUG_OR_EMPTY = '^([a-z0-9][a-z0-9_-]{0,63})?$';

/** One e-mail address, without separators of addresses or the beginning of a comment. */
const ADDRESS =
  '[^\\s\\u0000-\\u001f\\u007f-\\u009f@<>()\\[\\],;:"\\\\]{1,64}@[^\\s\\u0000-\\u001f\\u007f-\\u009f@<>()\\[\\],;:"\\\\]{1,189}';
export const MAIL_ADDRESS = `^${ADDRESS}$`;
export const MAILBOX_OR_EMPTY = `^(${ADDRESS}|[^\\u0000-\\u001f\\u007f-\\u009f<>"@,;:]{1,100}<${ADDRESS}>)?$`;

/**
 * Where a secret of the configuration is read: an absolute path of a file; a path of Vault and a field there; a name of
 * AWS, with or without a field.
 */
export const SECRET_REFERENCE =
  '^(file:/[^\\u0000-\\u001f\\u007f]+|vault:[^#\\u0000-\\u001f\\u007f]+#[^\\u0000-\\u001f\\u007f]+|aws:[^#\\u0000-\\u001f\\u007f]+(#[^\\u0000-\\u001f\\u007f]+)?)$';
