/** The parts of the program: what each is, and what it may import. The test holds the code to it, the page is made from it. */

export interface Part {
  readonly is: string;
  /** Beside `contract` and `base`, which every part may import, and the part's own folder. */
  readonly imports: readonly string[];
  /** Of these the shapes alone, which vanish when the program is built. */
  readonly types?: readonly string[];
}

/** A part is a folder or a file, or one in a folder: a file belongs to the longest name that fits. `*`: any other part. */
export const PARTS: Readonly<Record<string, Part>> = {
  main: { is: 'the commands of the process', imports: ['app', 'config', 'observe', 'runtime'] },
  app: { is: 'wiring, event loops, start and end of the process', imports: ['*'] },
  api: {
    is: 'the endpoints, those of one thing in a file',
    imports: [
      ...[
        'http',
        'http/body',
        'operations',
        'watch',
        'webhooks',
        'jobs',
        'uploads',
        'links',
        'connections',
        'remotes',
        'storage',
        'workers',
        'observe',
        'alarms',
        'sandbox',
      ],
    ],
  },
  'api/manage': {
    is: 'those of an account’s owner',
    imports: [
      ...['api', 'http', 'operations', 'jobs', 'uploads', 'watch', 'connections', 'remotes', 'remotes/dial', 'storage'],
      ...['budgets', 'attention', 'alarms'],
    ],
  },
  'api/openapi': {
    is: 'their documents, and these as the content of a page',
    imports: ['api', 'http', 'watch', 'jobs'],
  },
  dashboard: {
    is: 'the page of the owner: how it is built and served',
    imports: ['http', 'build', 'dashboard/screens'],
  },
  'dashboard/screens': { is: 'the addresses of its screens', imports: [] },
  // What runs in a browser is a program of its own, which knows the gateway by HTTP alone.
  'dashboard/web': { is: 'the page in the browser', imports: ['dashboard/screens'], types: ['client'] },
  'dashboard/web/link': { is: 'the page of a link in the browser', imports: [] },
  docs: {
    is: 'the documentation as a site: how it is built and served',
    imports: ['http', 'api', 'api/manage', 'api/openapi', 'docs/search', 'docs/form-types'],
  },
  'docs/search': { is: 'how the site finds texts: the build makes the index, the browser asks it', imports: [] },
  'docs/form-types': { is: 'the forms that try an operation, as the build writes them for the browser', imports: [] },
  'docs/web': { is: 'the site in the browser', imports: ['docs/search'], types: ['docs/form-types'] },
  // `main` is for `ftg serve` alone, `config` for `ftg init`, `connections` for the words of options; all else goes over HTTP.
  cli: { is: 'the command ftg', imports: ['client', 'config', 'connections', 'main', 'mcp'] },
  // `http` for what holds before anybody has said who it is: connections and guesses.
  mcp: { is: 'tools for agents, over the client', imports: ['client', 'http'] },
  n8n: { is: 'nodes for n8n, by n8n’s own requests', imports: ['client'] },
  release: { is: 'packages of the gateway, the client, ftg and the nodes for n8n', imports: ['build'] },
  client: { is: 'the client for programs', imports: [] },
  http: {
    is: 'requests and answers, limits, keys; two front ends behind one seam',
    imports: ['http/body', 'budgets'],
    // The router is given keys and stored answers as these interfaces; it cannot reach a database.
    types: ['storage'],
  },
  'http/body': { is: 'request bodies as they come: JSON, forms, digests', imports: ['budgets'] },
  operations: {
    is: 'what clients ask for, from the first byte to the history',
    imports: ['connections', 'remotes', 'remotes/dial', 'storage', 'budgets'],
  },
  jobs: {
    is: 'whole folders: listed, compared, done file by file on any node',
    imports: ['operations', 'connections', 'remotes', 'storage', 'budgets'],
    types: ['config'],
  },
  alarms: {
    is: 'what needs attention, sent as events and e-mails',
    imports: ['attention', 'storage'],
    types: ['config'],
  },
  attention: { is: 'what needs attention', imports: ['storage'] },
  uploads: {
    is: 'files that come in pieces, on any node',
    imports: ['operations', 'connections', 'remotes', 'storage'],
    types: ['config'],
  },
  links: {
    is: 'links that need no key: who may make them, and what their users see',
    imports: ['operations', 'connections', 'remotes', 'storage'],
  },
  watch: {
    is: 'watched folders: when, what is new, what follows',
    imports: ['webhooks', 'operations', 'connections', 'remotes', 'remotes/dial', 'storage', 'budgets', 'config'],
  },
  webhooks: { is: 'events on their way to receivers', imports: ['connections', 'remotes', 'remotes/dial', 'storage'] },
  remotes: {
    is: 'the seam, the three protocols, what they share',
    imports: ['remotes/dial', 'connections', 'pools', 'shares', 'budgets', 'resolver'],
  },
  'remotes/dial': {
    is: 'every outgoing socket, held against the network rules',
    imports: ['connections', 'remotes', 'budgets', 'resolver'],
  },
  connections: { is: 'what may be registered: one definition for each type', imports: ['pools'] },
  resolver: { is: 'names to addresses', imports: ['budgets'] },
  pools: { is: 'sessions, leases and those who wait for one', imports: ['shares', 'budgets'] },
  shares: { is: 'a pool’s limit over threads and nodes', imports: [] },
  budgets: { is: 'fair shares of memory, requests, sessions and look-ups', imports: [] },
  storage: {
    is: 'what is kept: the interfaces and the opening',
    imports: [
      'storage/cluster',
      'storage/embedded',
      'storage/postgres',
      'storage/secrets',
      'storage/startup',
      'storage/tables',
    ],
    types: ['config'],
  },
  'storage/cluster': {
    is: 'nodes, locks, jobs, limits over all nodes',
    imports: ['storage/postgres', 'storage/startup', 'budgets'],
  },
  'storage/embedded': {
    is: 'the PostgreSQL that the gateway brings',
    imports: ['storage/startup'],
    types: ['storage/postgres'],
  },
  'storage/postgres': { is: 'the database, its clock and its errors', imports: ['storage/startup'] },
  'storage/secrets': { is: 'master key, sealed rows, hashes', imports: ['storage/postgres', 'storage/startup'] },
  'storage/startup': { is: 'why it cannot start', imports: [] },
  'storage/tables': {
    is: 'one module for each group of tables',
    imports: ['storage/postgres', 'storage/secrets', 'storage/startup', 'connections'],
    // A registered connection is stored, and configured, in the shape in which the protocols take it.
    types: ['storage/cluster', 'config'],
  },
  sandbox: { is: 'an SFTP server and a receiver of webhooks to try the gateway on', imports: [] },
  workers: { is: 'base64 in threads', imports: [] },
  observe: {
    is: 'log, metrics, traces',
    imports: ['config'],
    // What it tells of a request, an operation, a check or a webhook's attempt is shaped by those.
    types: ['http', 'operations', 'watch', 'webhooks'],
  },
  config: { is: 'gateway.yaml: schema, defaults, mistakes', imports: ['connections'] },
  runtime: { is: 'the collector, the allocator, the last alarm', imports: [] },
  build: {
    is: 'makes dist of the sources: programs, validators, pages, manual page; and the types of the clients',
    imports: ['docs', 'api/openapi', 'http', 'config', 'connections'],
  },
  base: { is: 'errors, callers, deadlines, formats', imports: [] },
  contract: { is: 'what the outside sees, each thing defined once', imports: [] },
};

/** The layers of a part, of folders and files: each imports itself and those after it. */
export const LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'dashboard/web': [
    ['main', 'app', 'desk'],
    ['shell', 'palette'],
    ['screens'],
    ['ui'],
    ['api'],
    ['texts'],
    ['api/types', 'format', 'preferences', 'toasts'],
  ],
  'docs/web': [['main', 'theme'], ['search', 'try-it'], ['answer', 'key', 'request'], ['dom']],
};

/** Every part may import it. */
export const BASE = 'base';
/** Below all: `base` imports it too, and so do the programs that are published alone and the pages. */
export const CONTRACT = 'contract';

/** The longest name of the table under which a file of `src` is; "" = none. */
export const partOf = (file: string): string => longestOf(Object.keys(PARTS), file);

/** The layer of a file of such a part, counted from the top; -1 = none. */
export function layerOf(part: string, file: string): number {
  const layers = LAYERS[part] ?? [];
  const name = longestOf(layers.flat(), file.slice(part.length + 1));
  return layers.findIndex((layer) => layer.includes(name));
}

function longestOf(names: readonly string[], file: string): string {
  const isIn = (name: string): boolean => file.startsWith(`${name}/`) || file.replace(/\.tsx?$/, '') === name;
  return names.filter(isIn).reduce((longest, name) => (name.length > longest.length ? name : longest), '');
}

/** The table as a page shows it: a diagram of the parts that stand alone, and a line for each. */
export function architecturePage(): string {
  const rows = Object.entries(PARTS).map(([name, { is }]) => `| \`${name}\` | ${is} |`);
  const layers = Object.entries(LAYERS).map(
    ([part, names]) =>
      `- \`${part}\`: ${names.map((layer) => layer.map((name) => `\`${name}\``).join(', ')).join(' → ')}`,
  );
  return [
    ...['```mermaid', ...diagram(), '```', '', '| part | what it is |', '| --- | --- |', ...rows, ''],
    ...['What runs in a browser has layers. Each imports itself and those after it.', '', ...layers],
  ].join('\n');
}

/** An arrow that two others make up is left out, and so are `app`, which imports every part, `base` and `contract`. */
function diagram(): string[] {
  const top = (name: string): string => name.split('/', 1)[0] ?? name;
  const targets = new Map<string, Set<string>>();
  for (const [name, { imports }] of Object.entries(PARTS)) {
    const from = top(name);
    if (from === 'app' || from === BASE || from === CONTRACT) continue;
    const known = targets.get(from) ?? new Set();
    for (const target of imports.map(top)) if (target !== from) known.add(target);
    targets.set(from, known);
  }
  const reaches = (from: string, to: string): boolean =>
    [...(targets.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const arrows = [...targets].flatMap(([from, all]) =>
    [...all]
      .filter((to) => ![...all].some((other) => other !== to && reaches(other, to)))
      .map((to) => `  ${from} --> ${to}`),
  );
  return ['flowchart TD', ...arrows];
}
