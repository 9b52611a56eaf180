import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

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
