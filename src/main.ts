#!/usr/bin/env -S node --max-semi-space-size=8 --no-incremental-marking
/**
 * Starts the gateway: configuration first, everything else only if that is valid, so that a mistake shows at once.
 * GATEWAY_CONFIG names the file; without it the quick start runs on defaults. See lifecycle.ts for signals and exits.
 * With `rotate-keys` it changes the master key of the same configuration's database instead (rotate-keys.ts), with
 * `rotate-receipt-key` the key that signs receipts.
 */
import { suitAllocatorToStreams } from './runtime/allocator.js';
import { collectAtRest, suitCollectorToStreams } from './runtime/garbage-collector.js';
import { ConfigError } from './config/mistakes.js';
import type { Config } from './config/schema.js';
import { loadConfig } from './config/load.js';
import { EXIT, runGateway } from './app/lifecycle.js';

suitCollectorToStreams();

// Node.js 20 is supported here. The SDK of S3 prints a warning about its own plans on standard error, and has no other
// switch.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';

const file = process.env['GATEWAY_CONFIG'];
const hasFile = file !== undefined && file !== '';
const config = readConfig();
if (config !== undefined) await run(config);

function readConfig(): Config | undefined {
  try {
    return loadConfig({ ...(hasFile ? { file } : {}), env: process.env });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT.badConfig;
    return undefined;
  }
}

async function serve(config: Config): Promise<void> {
  suitAllocatorToStreams();
  collectAtRest();
  const { createLogger } = await import('./observe/log.js');
  const { startGateway } = await import('./app/start.js');
  await runGateway(startGateway, config, { logger: createLogger(config.log), quickStart: !hasFile });
}

function run(config: Config): Promise<void> {
  if (process.argv[2] === 'rotate-keys') return rotate(config);
  return process.argv[2] === 'rotate-receipt-key' ? rotateReceipts(config) : serve(config);
}

async function rotateReceipts(config: Config): Promise<void> {
  const { rotateReceiptKey } = await import('./app/rotate-receipt-key.js');
  process.exitCode = await rotateReceiptKey(config);
}

async function rotate(config: Config): Promise<void> {
  const { rotateKeys } = await import('./app/rotate-keys.js');
  process.exitCode = await rotateKeys(config, process.env['GATEWAY_NEW_MASTER_KEY'] ?? '');
}
