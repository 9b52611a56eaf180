/** What a server shows to whoever looks whether it is there. */
export interface ServerSight {
  /** From one small request on an open session to its answer. */
  readonly answerMs: number;
  /** Of a connection that was made for that request, where none belongs to the session. */
  readonly connectMs?: number;
  readonly hostKey?: { readonly fingerprint: string; readonly algorithm: string };
  readonly certificate?: ServerCertificate;
}

export interface ServerCertificate {
  /** SHA-256, as ServerProof has it. */
  readonly fingerprint: string;
  readonly subject: string;
  readonly issuer: string;
  readonly validTo: Date;
}
