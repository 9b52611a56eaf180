/** Scripted stores over TLS, and in the place of AWS. */
import { execFileSync } from 'node:child_process';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { S3Stub } from '../../servers/scripted-s3.js';
import type { S3Rig } from './s3-rig.js';

/** Sends every connection of the rig to the stub; returns the names that were resolved. */
export function redirectTo(stub: S3Stub, rig: S3Rig): Set<string> {
  const hosts = new Set<string>();
  const secure = new https.Agent({ keepAlive: true });
  const connect = secure.createConnection.bind(secure);
  secure.createConnection = (options, done) => {
    hosts.add(String(options.host));
    return connect({ ...options, host: '127.0.0.1', port: stub.port, rejectUnauthorized: false }, done);
  };
  Object.assign(rig.deps.dialer, { agents: () => ({ http: new http.Agent(), https: secure }) });
  return hosts;
}

export function selfSigned(host: string): { key: string; cert: string } {
  const name = net.isIP(host) === 0 ? `DNS:${host}` : `IP:${host}`;
  const pem = execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${host}`,
      '-addext',
      `subjectAltName=${name}`,
      '-keyout',
      '-',
      '-out',
      '-',
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  return { key: pem, cert: pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')) };
}
