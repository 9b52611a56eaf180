/** config/deploy: each file passes the check of its own tool, and agrees with the program. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { validate } from 'dockerfile-utils';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load.js';
import { MASTER_KEY_VARIABLE } from '../../src/config/environment.js';
import { writeCertificate } from '../http/support/certificate.js';
import { startGateway } from '../support/gateway.js';
import { MAIN_PATH, START_ARGS } from '../support/start-args.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const deploy = path.join(root, 'config/deploy');
const text = (name: string): string => readFileSync(path.join(deploy, name), 'utf8');

interface Container {
  readonly name: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly [probe: `${string}Probe`]: {
    readonly httpGet: { readonly path: string; readonly port: string };
    readonly periodSeconds: number;
    readonly failureThreshold: number;
  };
}
interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly [Container] };
    };
  };
}

const PROBES = ['/healthz', '/readyz'];

test('the Dockerfile has no mistake, copies existing files, and runs without special rights', () => {
  const dockerfile = text('Dockerfile');
  assert.deepEqual(validate(dockerfile), []);
  const copied = [...dockerfile.matchAll(/^COPY --from=build \/app\/(\S+)/gm)].map(([, from = '']) => from);
  for (const from of copied) assert.ok(existsSync(path.join(root, from)), `${from} is made by the build`);
  const user = /^USER (\S+)$/m.exec(dockerfile);
  assert.equal(user?.[1], 'node');
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string };
    files: string[];
  };
  // Other tests install and start the package: the image needs the same files. Only the man page is for a shell.
  const needed = manifest.files.filter((file) => /^(dist|src)\//.test(file) && file !== 'dist/man');
  assert.deepEqual(
    needed.filter((file) => !copied.includes(file)),
    [],
  );
  const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '') as string[];
  assert.equal(`exec ${entry.join(' ')}`, manifest.scripts.start);
  assert.match(dockerfile, /HEALTHCHECK[^]*\/readyz/);
});

test('the health check of the image follows /readyz, in plain text and over TLS', async () => {
  const [, command = ''] = /^HEALTHCHECK [^]*?CMD (\[.*\])$/m.exec(text('Dockerfile')) ?? assert.fail();
  const [program = '', ...args] = JSON.parse(command) as string[];
  const check = async (port: number): Promise<number> => {
    const env = { ...process.env, PORT: String(port) };
    return run(program, args, { env }).then(
      () => 0,
      ({ code }: { code: number }) => code,
    );
  };
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-health-'));
  const gateway = await startGateway({ config: { server: { tls: writeCertificate(folder, 'gateway.example') } } });
  try {
    assert.equal(await check(gateway.port), 0, 'ready, over TLS');
  } finally {
    await gateway.stop();
    rmSync(folder, { recursive: true });
  }
  assert.equal(await check(gateway.port), 1, 'nothing listens there');
  let status = 200;
  const plain = createServer((request, answer) => answer.writeHead(request.url === '/readyz' ? status : 404).end());
  await new Promise<void>((listening) => plain.listen(0, '127.0.0.1', listening));
  const { port } = plain.address() as AddressInfo;
  assert.equal(await check(port), 0, 'ready, in plain text');
  status = 503;
  assert.equal(await check(port), 1, 'not ready');
  plain.close();
});

test('the compose file follows its schema, and its files exist', async () => {
  const { stdout } = await run(path.join(root, 'node_modules/.bin/dclint'), [
    '--quiet',
    path.join(deploy, 'compose.yaml'),
  ]);
  assert.equal(stdout.trim(), '');
  for (const [, file] of text('compose.yaml').matchAll(/- \.\/([\w.]+):/g)) {
    assert.ok(existsSync(path.join(deploy, file ?? '')), file);
  }
});

test('nodes stop later than their transfers', () => {
  // The time that a stop takes when all transfers are aborted: see lifecycle.ts.
  const graceSeconds = 10;
  const needed = (name: string): number => {
    const { server } = loadConfig({ file: path.join(deploy, name), env: {} });
    return server.retireSeconds + server.drainSeconds + graceSeconds;
  };
  const compose = parse(text('compose.yaml')) as { 'x-gateway': { stop_grace_period: string } };
  assert.ok(Number.parseInt(compose['x-gateway'].stop_grace_period) > needed('gateway.yaml'));
  const unit = /^TimeoutStopSec=(\d+)$/m.exec(text('file-transfer-gateway.service'));
  assert.ok(Number(unit?.[1]) > needed('gateway.yaml'));
  const pod = (parse(text('kubernetes/deployment.yaml')) as Deployment).spec.template.spec;
  assert.ok(pod.terminationGracePeriodSeconds > needed('kubernetes/gateway.yaml'));
  // The balancers probe at the pace of readinessProbe, and must have seen the 503 before the listener closes.
  const { server } = loadConfig({ file: path.join(deploy, 'kubernetes/gateway.yaml'), env: {} });
  const { periodSeconds, failureThreshold } = pod.containers[0].readinessProbe as Container['readinessProbe'] & object;
  assert.ok(server.retireSeconds > periodSeconds * failureThreshold);
});

for (const name of ['gateway.yaml', 'kubernetes/gateway.yaml']) {
  test(`${name} is a valid configuration`, () => {
    const { server } = loadConfig({ file: path.join(deploy, name), env: {} });
    assert.deepEqual([server.host, server.port], ['0.0.0.0', 8080]);
  });
}

test('the load balancer accepts its configuration', async () => {
  const env = {
    ...process.env,
    LISTEN: '127.0.0.1:8080',
    GATEWAY_1: 'localhost:1',
    GATEWAY_2: 'localhost:2',
    GATEWAY_3: 'localhost:3',
  };
  await run('/usr/sbin/haproxy', ['-c', '-f', path.join(deploy, 'haproxy.cfg')], { env });
});

test('systemd accepts the unit, and starts the same program as npm start', async () => {
  const unit = path.join(deploy, 'file-transfer-gateway.service');
  const { stderr } = await run('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', unit]);
  assert.equal(stderr, '');
  const command = `ExecStart=/usr/bin/env node ${START_ARGS.join(' ')} ${MAIN_PATH}`;
  assert.ok(text('file-transfer-gateway.service').split('\n').includes(command));
});

test('the Kubernetes manifests are complete, and probe the addresses of the gateway', () => {
  const folder = path.join(deploy, 'kubernetes');
  const { resources, configMapGenerator } = parse(text('kubernetes/kustomization.yaml')) as {
    resources: string[];
    configMapGenerator: { name: string; files: string[] }[];
  };
  const apart = ['kustomization.yaml', 'secret.example.yaml', ...configMapGenerator.flatMap(({ files }) => files)];
  assert.deepEqual([...resources, ...apart].sort(), readdirSync(folder).sort());
  for (const name of [...resources, 'secret.example.yaml']) {
    for (const document of parseAllDocuments(text(`kubernetes/${name}`))) {
      assert.deepEqual(document.errors, [], name);
      const { apiVersion, kind, metadata } = document.toJS() as Record<string, { name?: string } | string>;
      assert.ok(apiVersion !== undefined && kind !== undefined, name);
      assert.equal((metadata as { name: string }).name, 'file-transfer-gateway');
    }
  }
  const [container] = (parse(text('kubernetes/deployment.yaml')) as Deployment).spec.template.spec.containers;
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
    const { path: target, port } = container[probe]!.httpGet;
    assert.ok(PROBES.includes(target));
    assert.ok(container.ports.some(({ name }) => name === port));
  }
  const secret = parse(text('kubernetes/secret.example.yaml')) as { stringData: Record<string, string> };
  assert.deepEqual(Object.keys(secret.stringData), [MASTER_KEY_VARIABLE, 'DATABASE_URL']);
  assert.equal(container.env[0]?.name, 'GATEWAY_CONFIG');
});
