/** Text formats of schemas that JSON Schema does not define. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { encodingName } from './encoding.js';
import { modeRefusal } from './file-mode.js';
import { hoursRefusal } from './hours.js';
import { isTimeZone } from './time-zone.js';

export const FORMATS = {
  host: isHost,
  encoding: (text: string): boolean => encodingName(text) !== undefined,
  'time-zone-or-empty': (text: string): boolean => text === '' || isTimeZone(text),
  'hours-or-empty': (text: string): boolean => text === '' || hoursRefusal(text) === undefined,
  'file-mode-or-empty': (text: string): boolean => text === '' || modeRefusal('file', text) === undefined,
  'folder-mode-or-empty': (text: string): boolean => text === '' || modeRefusal('folder', text) === undefined,
  'ip-or-empty': (text: string): boolean => text === '' || isIP(text) !== 0,
  'ip-or-cidr': (text: string): boolean => isIP(text) !== 0 || isCidr(text),
  'host-pattern': (text: string): boolean => isHost(text.replace(/^\*\./, '')) || isCidr(text),
  'host-port': isHostPort,
  'name-server': (text: string): boolean => isIP(text) !== 0 || (isHostPort(text) && isIP(hostOf(text)) !== 0),
  'http-url-or-empty': (text: string): boolean => text === '' || isPlainUrl(text, ['http:', 'https:']),
  'smtp-url-or-empty': (text: string): boolean => text === '' || isMailServer(text),
  'postgres-url-or-empty': (text: string): boolean => text === '' || hasProtocol(text, ['postgres:', 'postgresql:']),
} as const;

function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  return text.length <= 253 && /^[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*\.?$/u.test(text);
}

/** `sftp.example.com:22`, `192.0.2.1:22` or `[2001:db8::1]:22`. */
function isHostPort(text: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const isGoodHost = bracketed === undefined ? plain !== undefined && isHost(plain) : isIP(bracketed) === 6;
  return isGoodHost && Number(port) >= 1 && Number(port) <= 65_535;
}

function hostOf(hostPort: string): string {
  return hostPort.slice(0, hostPort.lastIndexOf(':')).replace(/^\[|\]$/g, '');
}

function isCidr(text: string): boolean {
  // The library also accepts shortened IPv4 such as 10/8; only full addresses are allowed.
  return isIP(text.slice(0, text.indexOf('/'))) !== 0 && ipaddr.isValidCIDR(text);
}

/** Whether the URL has one of these protocols, and no login, query or fragment. */
function isPlainUrl(text: string, protocols: readonly string[]): boolean {
  const url = hasProtocol(text, protocols) ? new URL(text) : undefined;
  return url !== undefined && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

/** Whether the login before the `@` can be decoded: `%ZZ` cannot. */
export function hasReadableLogin({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Only a server, and a login. */
function isMailServer(text: string): boolean {
  const url = hasProtocol(text, ['smtp:', 'smtps:']) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '' || !hasReadableLogin(url)) return false;
  return /^\/?$/.test(url.pathname) && url.search === '' && url.hash === '';
}

function hasProtocol(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}
