/** Secrets in a KV 2 engine of HashiCorp Vault, or of OpenBao. */
import { type StoreAnswer, ask, textIn } from './ask.js';
import { readSecretFile } from './secret-file.js';
import { unreadable } from './unreadable.js';

export interface VaultSettings {
  /** The beginning of its URLs; "" = none. */
  readonly address: string;
  /** The file with the token; "" = the login of the role. */
  readonly tokenFile: string;
  /** The role of Kubernetes authentication. */
  readonly role: string;
  /** The file with the token of the service account, for that login. */
  readonly serviceAccountTokenFile: string;
}

const PROBLEMS: Readonly<Record<number, string>> = {
  403: 'may not be read with the token of the gateway',
  404: 'does not exist',
  503: 'cannot be read: Vault is sealed, or in maintenance',
};

export class Vault {
  readonly #settings: VaultSettings;
  /** Shared by all reads until Vault refuses it. */
  #token: Promise<string> | undefined;

  constructor(settings: VaultSettings) {
    this.#settings = settings;
  }

  /** The field of the secret at this path of the API, such as `kv/data/acme`. @throws GatewayError login_refused */
  async read(path: string, field: string): Promise<string> {
    const first = this.#tokenNow();
    let answer = await this.#get(path, await first);
    if (answer.status === 403) {
      // It may have expired. Of several reads that find this out, one gets the next.
      if (this.#token === first) this.#token = undefined;
      answer = await this.#get(path, await this.#tokenNow());
    }
    if (answer.status !== 200) throw refused(answer);
    return textIn(answer.json, 'data', 'data', field);
  }

  #tokenNow(): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    const { role, tokenFile } = this.#settings;
    const token = role === '' ? tokenIn(tokenFile) : this.#login(role);
    this.#token = token;
    token.catch(() => {
      if (this.#token === token) this.#token = undefined;
    });
    return token;
  }

  async #login(role: string): Promise<string> {
    const jwt = await tokenIn(this.#settings.serviceAccountTokenFile);
    const answer = await ask(this.#url('auth/kubernetes/login'), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ role, jwt }),
    });
    if (answer.status === 200) return textIn(answer.json, 'auth', 'client_token');
    throw unreadable(`cannot be read: Vault refused the login of the role ${role} (${answer.status})`);
  }

  #get(path: string, token: string): Promise<StoreAnswer> {
    return ask(this.#url(path), { method: 'GET', headers: { 'X-Vault-Token': token, 'X-Vault-Request': 'true' } });
  }

  #url(path: string): URL {
    const { address } = this.#settings;
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    return new URL(`${address.replace(/\/+$/, '')}/v1/${encoded}`);
  }
}

/** @throws GatewayError login_refused, which names the file, not the secret that it is for */
async function tokenIn(file: string): Promise<string> {
  try {
    return (await readSecretFile(file)).trim();
  } catch {
    throw unreadable(`cannot be read: the token file ${file} of Vault cannot be read`);
  }
}

function refused({ status }: StoreAnswer): Error {
  return unreadable(PROBLEMS[status] ?? `cannot be read: Vault answered ${status}`);
}
