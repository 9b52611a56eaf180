/** The S3 front as the application has it. Its code is loaded only where the configuration enables it. */
import { allowOrigins, S3_TO_PAGES } from '../http/cors.js';
import type { HttpHandler } from '../http/types.js';
import type { S3Options } from '../s3/front.js';
import type { Part } from './parts.js';

/** Where the front is on the main listener. */
const PREFIX = '/s3';

interface S3Part {
  /** Requests below `/s3` go to the front, all others to `handler`. */
  beside(handler: HttpHandler): HttpHandler;
  /** On a listener of its own. */
  readonly alone: HttpHandler;
  /** Starts before the first request. */
  readonly part: Part;
}

/** `origins`: pages of these may use it. */
export function openS3(options: Omit<S3Options, 'prefix'>, origins: readonly string[]): S3Part {
  let open: ((prefix: string) => HttpHandler) | undefined;
  const frontAt = (prefix: string): HttpHandler => {
    let front: HttpHandler | undefined;
    const handle: HttpHandler = (request) => {
      front ??= open?.(prefix);
      if (front === undefined) throw new Error('the S3 front has not started');
      return front(request);
    };
    return allowOrigins(handle, origins, S3_TO_PAGES);
  };
  return {
    beside: (handler) => {
      const front = frontAt(PREFIX);
      return (request) => {
        const isS3 = request.path === PREFIX || request.path.startsWith(`${PREFIX}/`);
        return isS3 ? front(request) : handler(request);
      };
    },
    alone: frontAt(''),
    part: {
      name: 'S3 front',
      threads: 'all',
      start: async () => {
        const { createS3Front } = await import('../s3/front.js');
        open = (prefix) => createS3Front({ ...options, prefix });
      },
      stop: () => options.services.lists.close(),
    },
  };
}
