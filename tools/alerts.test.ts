import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { createLogger } from '@quittance/shared/logger';
import { createMetrics } from '@quittance/shared/metrics';
import { commandLine } from 'quittance/command-line';
import { commandsIn, leafOf, problemOf } from './documented-commands.ts';
import { type Documented, documentedMetrics } from './metrics-named.ts';

/** Alerts and the dashboard use only metrics and labels that exist, and each alert has its instructions. */

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const alerts = read('deploy/prometheus/alerts.yml');
const dashboard = read('deploy/grafana/dashboards/quittance.json');
const prometheus = read('deploy/prometheus/prometheus.yml');
const documented = documentedMetrics();

const expressionsOfAlerts = [...alerts.matchAll(/expr: (?:>-\n((?: {10}.*\n)+)|(.+)\n)/g)].map(
  ([, joined, plain]) => joined ?? plain ?? '',
);
const expressionsOfDashboard = (
  JSON.parse(dashboard) as { panels: { targets?: { expr: string }[] }[] }
).panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const expressions = [...expressionsOfAlerts, ...expressionsOfDashboard];

/** What Prometheus adds to each sample. */
const LABELS_OF_ALL = ['job', 'instance', 'le'];
const baseOf = (name: string) => name.replace(/_(?:bucket|count|sum)$/, '');

/** The metrics an expression names, each with the labels it chooses by. */
const named = (expression: string) =>
  [...expression.matchAll(/\b((?:quittance|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', chosen = '']) => ({
      name,
      labels: [...chosen.matchAll(/(\w+)\s*(?:=|!)/g)].map(([, label = '']) => label),
    }),
  );

test('every alert and panel uses metrics and labels of the table in docs/monitor.md', async () => {
  expect(expressionsOfAlerts.length).toBe((alerts.match(/- alert:/g) ?? []).length);
  expect(expressionsOfAlerts.length).toBeGreaterThan(20);
  const ofAnyProcess = await createMetrics({ logger: createLogger('test', 'silent') }).text();
  const known = new Map<string, Documented>(documented.map((one) => [one.name, one]));
  const wrong: string[] = [];
  for (const expression of expressions) {
    for (const { name, labels } of named(expression)) {
      const own = known.get(name) ?? known.get(baseOf(name));
      const isThere = own !== undefined || ofAnyProcess.includes(`# TYPE ${name} `);
      if (!isThere) wrong.push(`${name} is not in the table of docs/monitor.md`);
      const strange = labels.filter((label) => ![...LABELS_OF_ALL, ...(own?.labels ?? [])].includes(label));
      if (isThere && strange.length > 0) wrong.push(`${name} has no label ${strange.join(', ')}`);
    }
    const [first] = named(expression);
    const labels = known.get(baseOf(first?.name ?? ''))?.labels ?? known.get(first?.name ?? '')?.labels ?? [];
    for (const [, by = ''] of expression.matchAll(/by \(([^)]+)\)/g)) {
      const strange = by.split(', ').filter((label) => ![...LABELS_OF_ALL, ...labels].includes(label));
      if (first !== undefined && strange.length > 0) wrong.push(`${first.name} by ${strange.join(', ')}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('every route that an expression chooses is one of the service', () => {
  const chosen = expressions.flatMap((expression) => [
    ...expression.matchAll(/\{job="(\w+)",route="([^"]+)",method="(\w+)"/g),
  ]);
  expect(chosen.length).toBeGreaterThan(3);
  const missing = chosen.filter(([, job, route, method]) => {
    const folder = new URL(`../services/${job}/src/http/`, import.meta.url);
    const served = `app.${method?.toLowerCase()}('${route}'`;
    return !readdirSync(folder).some(
      (file) => file.endsWith('.ts') && readFileSync(new URL(file, folder), 'utf8').includes(served),
    );
  });
  expect(missing.map(([all]) => all)).toEqual([]);
});

test('each panel has an id of its own', () => {
  const ids = (JSON.parse(dashboard) as { panels: { id: number }[] }).panels.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(30);
  expect([...new Set(ids)]).toEqual(ids);
});

test('the dashboard shows every metric of the table', () => {
  const shown = new Set(expressionsOfDashboard.flatMap((one) => named(one).map(({ name }) => name)));
  const missing = documented.filter(
    ({ name }) => ![...shown].some((one) => baseOf(one) === name || one === name),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test('every metric of the table has an alert, except those that only inform', () => {
  const alarmed = new Set(expressionsOfAlerts.flatMap((one) => named(one).map(({ name }) => baseOf(name))));
  // Amounts only inform. The alert is on the age of the oldest. A trace that is lost costs nobody anything.
  const looked = [
    'quittance_outbox_unsent',
    'quittance_payouts_open',
    'quittance_holds_open',
    'quittance_deliveries_waiting',
    'quittance_hot_wallet_height',
    'quittance_moved_amount_total',
    'quittance_page_streams',
    'quittance_trace_spans_total',
  ];
  const silent = documented.map(({ name }) => name).filter((name) => !alarmed.has(name));
  expect(silent.sort()).toEqual(looked.sort());
});

const runbook = read('docs/runbook.md');
/** The sections of the runbook, by the alert that each is named after. */
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
);
const rules = alerts
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((rule) => ({
    name: rule.slice(0, rule.indexOf('\n')),
    severity: /severity: (\w+)/.exec(rule)?.[1],
    summary: /summary: "(.+)"\n/.exec(rule)?.[1] ?? '',
    runbookUrl: /runbook_url: "(.+)"\n/.exec(rule)?.[1],
  }));
const program = commandLine(
  { env: {}, cwd: '/', out: () => undefined, err: () => undefined },
  { tell: () => undefined, write: () => undefined },
);

test('every alert has a section in docs/runbook.md, and every section an alert', () => {
  expect([...sections.keys()]).toEqual(rules.map(({ name }) => name));
});

test('the runbook_url of every alert leads to its section, on the gateway of this installation', () => {
  expect(prometheus).toMatch(/external_labels: \{ installation: "\$\{PUBLIC_URL\}" \}/);
  expect(rules.map(({ runbookUrl }) => runbookUrl)).toEqual(
    rules.map(({ name }) => `{{ $externalLabels.installation }}/docs/runbook#${name.toLowerCase()}`),
  );
});

test.each(rules)('the section of $name says what it means, what to type, and when it is healed', (rule) => {
  const section = sections.get(rule.name) ?? '';
  const [meaning = '', then = ''] = section.split('**What to do.**');
  const [steps = '', healed = ''] = then.split('**Healed when**');
  const severity = rule.severity === 'page' ? 'Page' : 'Ticket';
  expect(meaning).toMatch(new RegExp(`^${rule.name}\\n\\n\\*\\*${severity}\\.\\*\\* .{20}`));
  expect(commandsIn(steps)).not.toEqual([]);
  // Something to look at: a metric, or what a command says.
  expect([
    ...healed.matchAll(/`(quittance_|nodejs_|rate\()|`(?:npx quittance|docker compose) /g),
  ]).not.toEqual([]);
});

test('every command of the runbook and of the alerts could be typed as it stands', () => {
  const services = read('docker-compose.yml')
    .split(/^services:$/m)[1]
    ?.matchAll(/^ {2}([\w-]+):$/gm);
  const names = [...(services ?? [])].map(([, name = '']) => name);
  expect(names).toEqual(expect.arrayContaining(['gateway', 'redis', 'provisioner']));
  const commands = commandsIn(runbook);
  expect(commands.length).toBeGreaterThan(rules.length);
  expect(commands.map((line) => problemOf(line, program, names)).filter(Boolean)).toEqual([]);
  const inSummaries = rules.flatMap(({ summary }) => [...summary.matchAll(/\bquittance ([\w -]+)/g)]);
  expect(inSummaries.length).toBeGreaterThan(3);
  for (const [said, words = ''] of inSummaries)
    expect([said, leafOf(words.split(' '), program).leaf.commands.length]).toEqual([said, 0]);
});

test('a command that could not be typed is found', () => {
  const problem = (line: string) => problemOf(line, program, ['gateway']);
  expect(problem('npx quittance payouts stale')).toContain('no such command');
  expect(problem('npx quittance payouts show')).toContain('needs id');
  expect(problem('npx quittance payouts resume')).toContain('needs --asset');
  expect(problem('npx quittance payouts paused --all')).toContain('no option --all');
  expect(problem('npx quittance payouts paused ETH')).toContain('does not take ETH');
  expect(problem('docker compose logs --since 1h gatway')).toContain('no service gatway');
  expect(problem('docker compose up --scale gatway=3')).toContain('no service gatway');
  expect(problem('docker compose log gateway')).toContain('not known');
  expect(problem('npx quittance payouts pause --asset ETH --reason "a drill"')).toBeUndefined();
});

test('every metric that the runbook names is in the table of docs/monitor.md', () => {
  const names = [...runbook.matchAll(/`?\b(quittance_\w+)/g)].map(([, name = '']) => baseOf(name));
  const known = new Set(documented.map(({ name }) => name));
  expect(names.filter((name) => !known.has(name))).toEqual([]);
});

test('Prometheus scrapes every service at the port that docker-compose.yml gives it', () => {
  const compose = read('docker-compose.yml');
  const asked = [...prometheus.matchAll(/job_name: (\w+)\n.*names: \[(\w+)\].*port: (\d+)/g)].map(
    ([, job, name, port]) => ({ job, name, port }),
  );
  const listening = compose.split(/^ {2}(?=[\w-]+:\n)/m).flatMap((service) => {
    const [name] = service.split(':', 1);
    const port = /^ {6}METRICS_PORT: (\d+)$/m.exec(service) ?? /^ {6}PORT: (\d+)$/m.exec(service);
    return port === null ? [] : [{ job: name, name, port: port[1] }];
  });
  const byName = (a: { name: string | undefined }, b: { name: string | undefined }) =>
    String(a.name).localeCompare(String(b.name));
  expect(listening).toHaveLength(6);
  expect(asked.sort(byName)).toEqual(listening.sort(byName));
});
