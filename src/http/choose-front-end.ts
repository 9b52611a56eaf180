/** Chooses one of the two front ends. */
import { MOST_NATIVE_KEEP_ALIVE_SECONDS } from './front-end.js';
import { type BinaryTrust, loadUws } from './native/uws-loader.js';

export type FrontEndName = 'uws' | 'node';

interface ChosenFrontEnd {
  readonly frontEnd: FrontEndName;
  readonly threads: number;
  /** One line, if the choice differs from the setting. */
  readonly warning: string | undefined;
}

/**
 * `load` throws an Error of one line if no build of uWebSockets.js runs. `auto` accepts only a build whose checksum is
 * known; with 'uws' the operator accepts any. @throws an Error of one line, if uWebSockets.js was requested and does
 * not run, or cannot keep connections for `keepAliveSeconds`
 */
export function chooseFrontEnd(
  asked: FrontEndName | 'auto',
  threads: number,
  load: (trust: BinaryTrust) => unknown = (trust) => loadUws(undefined, trust),
  keepAliveSeconds = 0,
): ChosenFrontEnd {
  const tooLong = `uWebSockets.js keeps idle connections for ${MOST_NATIVE_KEEP_ALIVE_SECONDS} seconds at most`;
  const isTooLong = asked !== 'node' && keepAliveSeconds > MOST_NATIVE_KEEP_ALIVE_SECONDS;
  if (asked === 'uws' && isTooLong) {
    throw new Error(`server.keepAliveSeconds: ${tooLong}; set server.frontEnd to auto or node`);
  }
  if (isTooLong) {
    const { warning, ...chosen } = chooseFrontEnd('node', threads, load);
    const parts = [`HTTP is served by node:http: ${tooLong} (server.keepAliveSeconds)`, warning];
    return { ...chosen, warning: parts.filter((part) => part !== undefined).join('; ') };
  }
  const missing = asked === 'node' ? undefined : whyNot(() => load(asked === 'uws' ? 'any' : 'known'));
  if (asked === 'uws' && missing !== undefined) {
    throw new Error(`server.frontEnd: ${missing.message}; auto and node serve by node:http instead`, {
      cause: missing,
    });
  }
  if (asked !== 'node' && missing === undefined) return { frontEnd: 'uws', threads, warning: undefined };
  const parts = [
    ...(missing === undefined ? [] : [`HTTP is served by node:http, which takes up to twice the CPU for it`]),
    ...(threads === 1 ? [] : [`node:http serves with one event loop, not with the ${threads} of server.threads`]),
    ...(missing === undefined ? [] : [missing.message]),
  ];
  return { frontEnd: 'node', threads: 1, warning: parts.length === 0 ? undefined : parts.join('; ') };
}

function whyNot(load: () => unknown): Error | undefined {
  try {
    load();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
