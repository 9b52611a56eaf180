/** `ftg mcp`: the gateway's operations as tools of the Model Context Protocol. Only this command loads the SDK. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { orAbort, waitFor } from '../../base/deadline.js';
import { type Actions, type Session } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { openGateway } from '../gateway.js';
import { gathered, number } from '../option-values.js';

interface McpOptions {
  readonly http?: boolean;
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
  readonly tokenFile?: string;
}

export function addMcpCommand(program: Command, actions: Actions, version: string): void {
  actions.remote<McpOptions>(
    program
      .command('mcp')
      .description('serve AI agents: tools over the Model Context Protocol, on standard input and output or over HTTP')
      .option('--http', 'over streamable HTTP, at /mcp')
      .option('--host <address>', 'where --http listens', '127.0.0.1')
      .option('--port <port>', 'where --http listens', number(0, 65_535), 8090)
      .option('--allow-host <name>', 'a name by which --http may be asked, beside those of this machine', gathered)
      .option(
        '--token-file <file>',
        'a file with the token that callers of --http show; without it each shows its own API key',
      ),
    (session, _, options) =>
      options.http === true ? overHttp(session, options, version) : overStdio(session, version),
  );
}

async function overStdio({ gateway, signal }: Session, version: string): Promise<void> {
  const [{ serveStdio }, { createServer }, { scopesOf }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('../../mcp/server.js'),
    import('../../mcp/gateway.js'),
  ]);
  const scopes = await scopesOf(gateway);
  const handle = serveStdio(() => createServer(gateway, scopes, version));
  // A client closes the pipe when it is done.
  await orAbort(once(process.stdin, 'close'), signal).catch(() => undefined);
  await handle.close();
}

async function overHttp({ gateway, out, signal }: Session, options: McpOptions, version: string): Promise<void> {
  const { host, port, allowHost: allowedHosts = [], tokenFile } = options;
  const token = tokenFile === undefined ? undefined : readFileSync(tokenFile, 'utf8').trim();
  if (token !== undefined && token.length < 24)
    throw new UsageError(`${tokenFile}: a token has 24 characters at least`);
  const { serveHttp } = await import('../../mcp/http.js');
  const open = (key: string | undefined) =>
    key === undefined ? gateway : openGateway({ url: gateway.url, key }, signal);
  const service = await serveHttp({ host, port, allowedHosts, version, open, token });
  out.show({ url: service.url }, () => `serves agents at ${service.url}`);
  await aborted(signal);
  await service.close();
}

/** Resolves when the user ends the command. */
function aborted(signal: AbortSignal): Promise<void> {
  return waitFor<void>({ signal }, () => undefined).catch(() => undefined);
}
