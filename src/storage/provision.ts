/** Applies the configured accounts: in one transaction, one node at a time; removes nothing. */
import type { AccountConfig } from '../config/config.js';
import type { Database } from './postgres/database.js';
import type { NamedSecrets } from './secrets/sealed-rows.js';
import { provisionAccount } from './tables/accounts.js';
import { markConfiguredKeys, provisionKeys } from './tables/api-keys.js';
import { markConfiguredConnections, prepareConnection, provisionConnections } from './tables/connections.js';

const PROVISION_LOCK = 4_702_111_234_002;
/** Other nodes may be provisioning the same accounts just now. */
const PATIENCE_MS = 120_000;

/** StartupError names the entry that cannot be applied; nothing is changed then. */
export async function provisionAccounts(
  database: Database,
  connectionSecrets: NamedSecrets,
  accounts: readonly AccountConfig[],
  sandboxId: string | undefined,
): Promise<void> {
  // Files are read before the lock is taken.
  const prepared = await Promise.all(
    accounts.map(async (account) => ({
      account,
      connections: await Promise.all(account.connections.map(prepareConnection)),
    })),
  );
  await database.transaction(async (tx) => {
    await tx`select set_config('statement_timeout', ${String(PATIENCE_MS)}, true)`;
    await tx`select pg_advisory_xact_lock(${PROVISION_LOCK}::bigint)`;
    const connectionIds: string[] = [];
    for (const { account, connections } of prepared) {
      const accountId = await provisionAccount(tx, account);
      await provisionKeys(tx, accountId, account);
      connectionIds.push(
        ...(await provisionConnections(tx, connectionSecrets, accountId, account, connections, sandboxId)),
      );
    }
    await markConfiguredConnections(tx, connectionIds);
    await markConfiguredKeys(
      tx,
      accounts.flatMap(({ apiKeys }) => apiKeys),
    );
  }, PATIENCE_MS);
}
