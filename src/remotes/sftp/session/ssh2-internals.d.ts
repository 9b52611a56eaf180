/** Modules of ssh2 that its types do not describe. */
declare module 'ssh2/lib/protocol/constants.js' {
  const constants: {
    readonly SUPPORTED_KEX: readonly string[];
    readonly SUPPORTED_SERVER_HOST_KEY: readonly string[];
    readonly SUPPORTED_CIPHER: readonly string[];
    readonly SUPPORTED_MAC: readonly string[];
  };
  export default constants;
}

declare module 'ssh2/lib/protocol/crypto.js' {
  const crypto: { readonly bindingAvailable?: boolean };
  export default crypto;
}

declare module 'ssh2/lib/protocol/utils.js' {
  /** Encrypts and sends a packet, or queues it while keys are exchanged. */
  const utils: { sendPacket(protocol: object, packet: Buffer): boolean };
  export default utils;
}

declare module 'ssh2/lib/protocol/kex.js' {
  interface Names {
    readonly array: readonly string[];
  }
  type Ciphering<N> = Readonly<Record<'cipher' | 'mac' | 'compress' | 'lang', N>>;
  /** The lists of a KEXINIT (RFC 4253, 7.1). */
  class KexInit {
    constructor(names: KexLists<readonly string[]>);
    readonly lists: KexLists<Names>;
  }
  interface KexLists<N> {
    readonly kex: N;
    readonly serverHostKey: N;
    readonly cs: Ciphering<N>;
    readonly sc: Ciphering<N>;
  }
  export type { KexInit };
  const kex: { readonly KexInit: typeof KexInit };
  export default kex;
}
