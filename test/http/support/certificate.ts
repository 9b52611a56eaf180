import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import tls from 'node:tls';

/** Writes a self-signed pair for `name` over the files. */
export function writeCertificate(folder: string, name: string): { certFile: string; keyFile: string } {
  const certFile = join(folder, 'server.crt');
  const keyFile = join(folder, 'server.key');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', keyFile];
  execFileSync('openssl', ['req', '-x509', '-nodes', ...key, '-subj', `/CN=${name}`, '-out', certFile], {
    stdio: 'ignore',
  });
  return { certFile, keyFile };
}

/** The common name of the certificate that a server on this machine shows. */
export async function certificateName(port: number): Promise<string> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}
