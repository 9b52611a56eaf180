/** The dashboard, the alerts and their page use metrics that a running gateway really has. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { ERRORS } from '../../src/contract/errors.js';
import { readSources } from '../../src/docs/sources.js';
import { METRICS } from '../../src/observe/metric-table.js';
import { startGateway } from '../support/gateway.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

const dashboard = JSON.parse(read('config/grafana/gateway.json')) as { readonly panels: readonly Panel[] };
const alerts = parse(read('config/prometheus/alerts.yaml')) as {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
};
const rules = alerts.groups.flatMap((group) => group.rules);
const graphs = dashboard.panels.filter(({ type }) => type !== 'row');

/** The place of each expression, and the expression in the form for Prometheus. */
const expressions = [
  ...graphs.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel "${title}"`, expr.replaceAll('$__rate_interval', '5m')] as const),
  ),
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
];

/** Labels that a scrape adds to every series, and metrics that Prometheus makes itself. */
const SCRAPE_LABELS = ['job', 'instance'];
const OF_PROMETHEUS = ['up'];

interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly value: string }[];
}

/** The selectors and grouping labels of an expression; fails if it is not PromQL. */
function analyse(expression: string): { readonly selectors: Selector[]; readonly grouped: string[] } {
  const selectors: { metric: string; matchers: { label: string; value: string }[] }[] = [];
  const grouped: string[] = [];
  let label = '';
  parser.parse(expression).iterate({
    enter: ({ type, name, from, to, node }) => {
      const text = expression.slice(from, to);
      assert.ok(!type.isError, `not PromQL at ${from}: ${expression}`);
      if (name === 'VectorSelector') selectors.push({ metric: '', matchers: [] });
      else if (name === 'Identifier' && node.parent?.name === 'VectorSelector') selectors.at(-1)!.metric = text;
      else if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') grouped.push(text);
      else if (name === 'LabelName') label = text;
      else if (name === 'StringLiteral') selectors.at(-1)!.matchers.push({ label, value: text.slice(1, -1) });
    },
  });
  return { selectors, grouped };
}

/** `ftg_x_seconds_bucket` of a histogram is `ftg_x_seconds` in the table. */
const familyOf = (metric: string, shown: ReadonlySet<string>): string =>
  shown.has(metric) ? metric : metric.replace(/_(bucket|sum|count)$/, '');

const labelsOf = (family: string): readonly string[] | undefined =>
  Object.values(METRICS).find(({ name }) => name === family)?.labels;

suite('dashboard and alerts', () => {
  let shown: ReadonlySet<string>;

  before(async () => {
    const gateway = await startGateway({ config: { metrics: { perConnection: true } } });
    const { text } = await gateway.api.get('/metrics');
    await gateway.stop();
    shown = new Set(Array.from(text.matchAll(/^# TYPE (\S+) /gm), ([, name = '']) => name));
    assert.ok(shown.has('ftg_ready'));
  });

  test('every expression is PromQL over metrics and labels that the gateway has', () => {
    assert.ok(expressions.length > 50);
    for (const [place, expression] of expressions) {
      const { selectors, grouped } = analyse(expression);
      assert.ok(selectors.length > 0, place);
      for (const { metric, matchers } of selectors) {
        if (OF_PROMETHEUS.includes(metric)) continue;
        const family = familyOf(metric, shown);
        assert.ok(shown.has(family), `${place}: there is no metric ${metric}`);
        const labels = labelsOf(family);
        const known = [...SCRAPE_LABELS, 'le', ...(labels ?? [])];
        for (const label of [...grouped, ...matchers.map((matcher) => matcher.label)]) {
          assert.ok(known.includes(label), `${place}: ${metric} has no label ${label}`);
        }
        for (const { label, value } of matchers) {
          if (label !== 'code') continue;
          for (const code of value.split('|')) assert.ok(code in ERRORS, `${place}: there is no error ${code}`);
        }
      }
    }
  });

  test('every metric of the gateway is on the dashboard', () => {
    const used = new Set(
      graphs.flatMap(({ targets = [] }) =>
        targets.flatMap(({ expr }) =>
          analyse(expr.replaceAll('$__rate_interval', '5m')).selectors.map(({ metric }) => familyOf(metric, shown)),
        ),
      ),
    );
    assert.deepEqual(
      Object.values(METRICS).flatMap(({ name }) => (used.has(name) ? [] : [name])),
      [],
    );
  });

  test('a mistake in an expression is found', () => {
    assert.throws(() => analyse('sum by (host (ftg_pool_waiting)'), /not PromQL/);
    assert.equal(shown.has(familyOf('ftg_pool_wating', shown)), false);
    assert.deepEqual(analyse('sum by (host) (rate(ftg_x_count{code=~"a|b"}[5m]))'), {
      selectors: [{ metric: 'ftg_x_count', matchers: [{ label: 'code', value: 'a|b' }] }],
      grouped: ['host'],
    });
  });

  test('panels have titles, places and ids of their own', () => {
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
    for (const { title, targets = [] } of graphs) {
      assert.ok(title !== '' && targets.length > 0, title);
      for (const { legendFormat } of targets) assert.ok(legendFormat !== '', title);
    }
  });

  test('alerts have a severity, a problem and an action; each has its own name', () => {
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, labels, annotations } of rules) {
      assert.ok(['critical', 'warning'].includes(labels.severity), alert);
      assert.ok(annotations.summary.length > 10 && annotations.description.length > 20, alert);
    }
  });
});

suite('promtool', () => {
  const check = (file: string) => run('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', file]);

  test('takes the rules', async () => {
    const { stdout } = await check(path.join(ROOT, 'config/prometheus/alerts.yaml'));
    assert.match(stdout, new RegExp(`SUCCESS: ${rules.length} rules found`));
  });

  test('finds a mistake', async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'ftg-rules-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'alerts.yaml');
    writeFileSync(file, read('config/prometheus/alerts.yaml').replace(/for: \d+m$/m, 'for: long'));
    await assert.rejects(check(file), /not a valid duration string/);
  });
});

suite('the page about observation', () => {
  const file = 'docs/operate/observability.md';
  const page = readSources().find((source) => source.file === file)?.text ?? assert.fail('no page');

  test('its table of metrics is the table of the program', () => {
    const rows = Array.from(page.matchAll(/^\| `(ftg_\w+)` +\| (\w+) +\| (.*?) +\| (.*?) +\|$/gm), ([, ...row]) => row);
    const labels = (row: readonly string[]): string =>
      row.length === 0 ? '' : row.map((name) => `\`${name}\``).join(' ');
    const kindOf = (metric: (typeof METRICS)[keyof typeof METRICS]): string =>
      'buckets' in metric ? 'histogram' : metric.name.endsWith('_total') ? 'counter' : 'gauge';
    assert.deepEqual(
      rows,
      Object.values(METRICS).map((metric) => [metric.name, kindOf(metric), labels(metric.labels), metric.help]),
    );
  });

  test('it names every alert', () => {
    for (const { alert } of rules) assert.ok(page.includes(`\`${alert}\``), alert);
  });
});
