import { spawn } from 'node:child_process';

export interface CurlResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real curl, which integrators use. `input` is sent to its standard input. */
export async function curl(args: readonly string[], input?: NodeJS.ReadableStream): Promise<CurlResult> {
  const child = spawn('curl', ['--silent', '--show-error', '--max-time', '60', ...args]);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('latin1')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => undefined);
  if (input === undefined) child.stdin.end();
  else input.pipe(child.stdin);
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, stdout, stderr };
}
