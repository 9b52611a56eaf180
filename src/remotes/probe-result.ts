/** What a check of a server shows. */
export interface ProbeResult {
  /** From one small request on an open session to its answer. */
  readonly answerMs: number;
  /** Time to make the connection for that request, if none belongs to the session. */
  readonly connectMs?: number;
  readonly hostKey?: { readonly fingerprint: string; readonly algorithm: string };
  readonly certificate?: ServerCertificate;
  readonly banner?: string;
  /** The agreed ones. */
  readonly algorithms?: readonly string[];
  readonly extensions?: readonly string[];
}

export interface ServerCertificate {
  /** SHA-256, as in ServerProof. */
  readonly fingerprint: string;
  readonly subject: string;
  readonly issuer: string;
  readonly validTo: Date;
}
