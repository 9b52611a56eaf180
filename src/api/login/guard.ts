/** Slows down guessing: by account and address together, by address, and by account. Counted over all nodes. */
import { createHash } from 'node:crypto';
import { MINUTE_MS } from '../../contract/units.js';
import { RateLimiterRes, type RateLimiterPostgres } from 'rate-limiter-flexible';
import { GatewayError } from '../../base/errors.js';
import { networkOf } from '../../http/client-address.js';
import type { Management, Storage } from '../../storage/storage.js';

const QUARTER = 15 * 60;
const LIMITS = {
  pair: { name: 'login_pair', points: 5, windowSeconds: QUARTER },
  address: { name: 'login_address', points: 50, windowSeconds: QUARTER },
  account: { name: 'login_account', points: 100, windowSeconds: 3600 },
} as const;

/** One try of a password or a code. Exactly one of these is called. */
interface Attempt {
  /** Everything was right. */
  succeeded(): Promise<void>;
  /** Undecided: something is still missing. */
  undecided(): Promise<void>;
}

export class LoginGuard {
  readonly #sessions: Pick<Management['sessions'], 'knowsAddress'>;
  readonly #pair: RateLimiterPostgres;
  readonly #address: RateLimiterPostgres;
  readonly #account: RateLimiterPostgres;

  constructor(
    accounts: Pick<Storage['accounts'], 'failureLimiter'>,
    sessions: Pick<Management['sessions'], 'knowsAddress'>,
  ) {
    this.#sessions = sessions;

    this.#pair = accounts.failureLimiter(LIMITS.pair);
    this.#address = accounts.failureLimiter(LIMITS.address);
    this.#account = accounts.failureLimiter(LIMITS.account);
  }

  /**
   * Counts the try before it is checked, so that many simultaneous tries cannot exceed the limit; a right one is given
   * back. @throws GatewayError rate_limited
   */
  async begin(email: string, address: string, accountId: string | undefined): Promise<Attempt> {
    const from = networkOf(address);
    const account = digest(email.toLowerCase());
    const pair = digest(`${email.toLowerCase()} ${from}`);
    await consume(this.#address, from);
    await consume(this.#pair, pair);
    // Guesses from elsewhere do not lock out an owner at an address of an earlier login.
    const isKnown = accountId !== undefined && (await this.#sessions.knowsAddress(accountId, address));
    if (!isKnown) await consume(this.#account, account);
    const giveBack = async (): Promise<void> => {
      await this.#address.reward(from, 1);
      if (!isKnown) await this.#account.reward(account, 1);
    };
    return {
      succeeded: async () => {
        await giveBack();
        await this.#pair.delete(pair);
      },
      // The count stays: otherwise a right password would allow unlimited guesses of the code.
      undecided: async () => {
        await giveBack();
        await this.#pair.reward(pair, 1);
      },
    };
  }
}

async function consume(limiter: RateLimiterPostgres, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const minutes = Math.ceil(refused.msBeforeNext / MINUTE_MS);
    throw new GatewayError('rate_limited', `too many failed logins; try again in ${minutes} minutes`, {
      step: 'request',
      retryAfterMs: refused.msBeforeNext,
    });
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
