/** Starts the gateway. An embedded database starts first: it becomes ready while the modules of the gateway load. */
import { BegunServer } from '../storage/embedded/begun.js';
import type { StartGateway } from './gateway-types.js';
import { logWith } from './log-with.js';

export const startGateway: StartGateway = async (config, options) => {
  const { dataDir, database } = config;
  const begun = database.url === '' ? new BegunServer(dataDir, logWith(options.logger)) : undefined;
  try {
    const { startLoadedGateway: start } = await import('./gateway.js');
    return await start(config, { ...options, begun });
  } catch (error) {
    await begun?.giveUp();
    throw error;
  }
};
