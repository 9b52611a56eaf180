/** What a run installs before it begins: what its files need, and nothing else. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ensurePackages, SWIFT } from '../servers/packages.js';
import { reachedBy } from './imports.js';
import { FOLDER } from './selection.js';

/** Installs the tools of test/tools, unless they are there. */
const INSTALLER = path.join(FOLDER, '../../test/tools/install.js');
const { dependencies } = JSON.parse(readFileSync(path.join(INSTALLER, '../package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
export const TOOLS = Object.keys(dependencies);
/** A program or a file of a tool, where no module imports it. */
const TOOL_FILE = new RegExp(`\\bnode_modules/(\\.bin/)?(${TOOLS.join('|')})['"/]`);

/** A test that runs one of these programs needs the packages; so does one that imports a module which runs it. */
const PROGRAMS: readonly (readonly [program: RegExp, packages: readonly string[]])[] = [
  [/['"](\/usr\/sbin\/sshd|ssh-keygen)['"]/, ['openssh-server']],
  [/['"]\/usr\/sbin\/vsftpd['"]/, ['vsftpd']],
  [/['"]\/usr\/bin\/tinyproxy['"]/, ['tinyproxy']],
  [/['"]\/usr\/bin\/microsocks['"]/, ['microsocks']],
  [/['"]\/usr\/sbin\/danted['"]/, ['dante-server']],
  [/['"]rclone['"],\s*\[/, ['rclone']],
  [/['"]\/usr\/bin\/aws['"]/, ['awscli']],
  [/\bimport boto3\b/, ['python3-boto3']],
  [/['"]\/usr\/bin\/s3cmd['"]/, ['s3cmd']],
  [/['"]\/usr\/bin\/s3fs['"]/, ['s3fs']],
  [/['"]\/usr\/bin\/restic['"]/, ['restic']],
  [/['"]\/usr\/bin\/duplicity['"]/, ['duplicity', 'python3-boto3']],
  [
    /snippetsOf\(['"]docs\/integrate\/s3-front\.md['"]\)/,
    ['awscli', 'curl', 'duplicity', 'python3-boto3', 'python3-pandas', 'rclone', 'restic', 's3cmd', 's3fs'],
  ],
  [/\bswift\.common\b/, SWIFT],
  [/['"]\/usr\/lib\/postgresql['"]/, ['postgresql']],
  [/\bclock: true\b/, ['libfaketime']],
  [/['"]\/usr\/sbin\/pgbouncer['"]/, ['pgbouncer']],
  [/['"]\/usr\/sbin\/haproxy['"]/, ['haproxy']],
  [/['"]\/usr\/bin\/chromium-headless-shell['"]/, ['chromium-headless-shell']],
  [/\(\s*['"]curl['"]|^curl |\bcurl -/m, ['curl']],
  [/\(\s*['"]openssl['"]/, ['openssl']],
  [/\(\s*['"]unzip['"]/, ['unzip']],
  [/\(\s*['"]promtool['"]/, ['prometheus']],
  [/\(\s*['"]systemd-analyze['"]/, ['systemd']],
  [/\(\s*['"](man|mandoc|groff)['"]/, ['man-db', 'mandoc']],
  [/['"](fish|zsh)\b/, ['fish', 'zsh']],
  // The pages' examples in Python.
  [/existsSync\(['"]\/usr\/bin\/python3['"]\)/, ['python3-httpx']],
  // The Python client, its types, and its wheel.
  [/['"]\/usr\/bin\/mypy['"]/, ['python3-httpx', 'python3-cryptography', 'python3-hatchling', 'python3-venv', 'mypy']],
];

/** It imports what starts every server there is: what a test needs is said by the lists that it takes. */
const CATALOGUE = /[\\/]servers[\\/]catalogue\.js$/;
/** A test that imports a whole list takes its first server, unless it names others. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  OPENSSH: ['openssh-server'],
  LIMITED_OPENSSH: ['openssh-server'],
  OTHER_SFTP: ['rclone'],
  SFTP_SERVERS: ['openssh-server'],
  VSFTPD: ['vsftpd', 'openssl'],
  PURE_FTPD: ['openssl'],
  PROFTPD: ['openssl'],
  FTP_SERVERS: ['vsftpd', 'openssl'],
  S3_SERVERS: SWIFT,
};

/** What the program itself starts is there, or is installed with it. */
const OURS = /[\\/]dist[\\/](test|bench)[\\/]/;
const known = new Map<string, readonly string[]>();

/** `files` are compiled test files below FOLDER. */
export async function provide(files: readonly string[]): Promise<void> {
  if (files.some(usesTools)) execFileSync(process.execPath, [INSTALLER], { stdio: 'inherit' });
  await ensurePackages([...new Set(files.flatMap(packagesOf))]);
}

export function usesTools(file: string): boolean {
  const whole = path.join(FOLDER, file);
  return [whole, ...reachedBy(whole).keys()].some((module) => {
    if (path.isAbsolute(module)) return OURS.test(module) && TOOL_FILE.test(readFileSync(module, 'utf8'));
    return TOOLS.some((name) => module === name || module.startsWith(`${name}/`));
  });
}

export function packagesOf(file: string): string[] {
  const whole = path.join(FOLDER, file);
  const reached = reachedBy(whole, CATALOGUE);
  const listed = [...reached]
    .filter(([module]) => CATALOGUE.test(module))
    .flatMap(([, names]) => [...names].flatMap((name) => LISTS[name] ?? []));
  const modules = [whole, ...reached.keys()].filter((module) => OURS.test(module) && !CATALOGUE.test(module));
  return [...new Set([...listed, ...modules.flatMap(packagesOfModule)])].sort();
}

function packagesOfModule(module: string): readonly string[] {
  const done = known.get(module);
  if (done !== undefined) return done;
  const text = readFileSync(module, 'utf8');
  const packages = PROGRAMS.filter(([program]) => program.test(text)).flatMap(([, names]) => names);
  known.set(module, packages);
  return packages;
}
