import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../../src/config/schema.js';
import { loadConfig } from '../../src/config/load.js';
import { ConfigError } from '../../src/config/mistakes.js';

/** Runs `work` in a temporary folder, which is removed afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T> | T): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-config-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The configuration without file and environment. */
export function defaults(): Config {
  return loadConfig({ env: {} });
}

/** Loads this text as gateway.yaml. */
export function load(yaml: string, env: Record<string, string> = {}): Promise<Config> {
  return inFolder((folder) => {
    const file = path.join(folder, 'gateway.yaml');
    writeFileSync(file, yaml);
    return loadConfig({ file, env });
  });
}

/** The lines of the error message; fails when the text loads. */
export async function mistakesIn(yaml: string, env: Record<string, string> = {}): Promise<string[]> {
  try {
    await load(yaml, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  throw new Error('this configuration was accepted');
}

/** An account with these connections and keys, as YAML flow text. */
export function account(parts: { keys?: string; connections?: string; plan?: string }): string {
  return `accounts:
  - email: ops@example.com
    plan: ${parts.plan ?? 'pro'}
    apiKeys: [${parts.keys ?? ''}]
    connections: [${parts.connections ?? ''}]
`;
}

export const SFTP = 'type: sftp, host: sftp.example.com, username: gw, password: pw';
export const KEY = 'ftg_abcdefghijklmnopqrstuvwxyz';
