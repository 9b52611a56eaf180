/** The output of a quick start: the gateway's address, the login, and requests to try. */
import path from 'node:path';
import { type QuickStartLogin, QUICK_START_EMAIL, stateFile } from './quick-start-state.js';
import { SANDBOX_CONNECTION_ID } from './sandbox.js';

interface BannerFacts {
  /** The gateway's address for clients, without a final slash. */
  readonly url: string;
  readonly dataDir: string;
  /** Only at the start that created them. */
  readonly credentials?: QuickStartLogin | undefined;
}

/** The text that a quick start prints once it serves. Its lines with curl work in a shell when run in this order. */
export function quickStartBanner({ url, dataDir, credentials }: BannerFacts): string {
  const login = credentials === undefined ? shownBefore(dataDir) : shownNow(credentials);
  const lines = [
    `File Transfer Gateway serves at ${url}`,
    '',
    ...login,
    `  Connection   ${SANDBOX_CONNECTION_ID}: an SFTP server of the gateway's own over ${path.resolve(dataDir, 'sandbox')}`,
    `  Data         ${path.resolve(dataDir)}`,
    '',
    ...(credentials === undefined ? [] : ['Try it:', '', ...curlLines(url, credentials.apiKey), '']),
  ];
  return lines.join('\n');
}

function shownNow({ apiKey, password }: QuickStartLogin): string[] {
  return [
    `  API key      ${apiKey}`,
    `  Dashboard    ${QUICK_START_EMAIL}, password ${password}`,
    '               Key and password are shown only once: keep them.',
  ];
}

function shownBefore(dataDir: string): string[] {
  return [
    `  Dashboard    ${QUICK_START_EMAIL}`,
    '               API key and password were shown at the first start. To get new ones in their place, stop the',
    `               gateway, delete ${stateFile(dataDir)} and start it again.`,
  ];
}

/** The upload contains its content, so that no file is needed. */
function curlLines(url: string, apiKey: string): string[] {
  const curl = `curl -sS -H 'Authorization: Bearer ${apiKey}'`;
  const api = `${url}/api`;
  return [
    '  # upload a file (one of yours: -F file=@report.pdf)',
    `  ${curl} -F 'file=hello;filename=hello.txt' '${api}/upload/${SANDBOX_CONNECTION_ID}'`,
    '  # list the folder',
    `  ${curl} '${api}/list/${SANDBOX_CONNECTION_ID}'`,
    '  # download the file',
    `  ${curl} '${api}/download/${SANDBOX_CONNECTION_ID}?path=/hello.txt'`,
    '  # see what was transferred',
    `  ${curl} '${api}/transfers'`,
  ];
}
