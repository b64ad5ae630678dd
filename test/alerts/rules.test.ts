import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { notTried } from '@quittance/testkit/not-tried';
import { alertRules, prometheusPrograms, RULES, type Rules } from './prometheus.ts';
import type { RuleCase } from './rule-case.ts';
import { ruleCases } from './rule-cases.ts';
import { type SilentCase, silentCases } from './silent-cases.ts';

/**
 * Each alert, evaluated by Prometheus itself over series that are written down here: when it begins to fire, what it then says, when it ends,
 * and at what it stays silent. That faults really cause such series is shown by test/faults/alerts.test.ts.
 */
const INSTALLATION = 'https://pay.example.com';
const SAMPLE_SECONDS = 15;
const LOOKS = 20;

const programs = await prometheusPrograms();
const { groups } = alertRules();
const rules = groups.flatMap((group) => group.rules);
const folder = mkdtempSync(join(tmpdir(), 'quittance-alerts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inputOf = (series: Readonly<Record<string, string>>) =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }));

const testOf = (
  { series, everySeconds = SAMPLE_SECONDS }: Pick<RuleCase, 'series' | 'everySeconds'>,
  checks: readonly object[],
) => ({
  interval: `${everySeconds}s`,
  external_labels: { installation: INSTALLATION },
  input_series: inputOf(series),
  alert_rule_test: checks,
});

function firing(one: RuleCase) {
  const { alert, turns, labels, summary } = one;
  const severity = rules.find((rule) => rule.alert === alert)?.labels['severity'];
  const fires = {
    exp_labels: { ...labels, severity },
    exp_annotations: {
      summary,
      runbook_url: `${INSTALLATION}/docs/runbook#${alert.toLowerCase()}`,
    },
  };
  return testOf(one, [
    { eval_time: turns.before, alertname: alert },
    { eval_time: turns.fires, alertname: alert, exp_alerts: [fires] },
    ...(turns.healed === undefined ? [] : [{ eval_time: turns.healed, alertname: alert }]),
  ]);
}

function silent(one: SilentCase) {
  const { alert, minutes } = one;
  const looks = Array.from({ length: LOOKS }, (_, i) => Math.round((minutes * 60 * (i + 1)) / LOOKS));
  return testOf(
    one,
    looks.map((second) => ({ eval_time: `${second}s`, alertname: alert })),
  );
}

/** The rule of one alert, which looks at no other: all of them for each case would take three times as long. */
function rulesOf(alert: string): Rules {
  const only = groups
    .map((group) => ({ ...group, rules: group.rules.filter((rule) => rule.alert === alert) }))
    .filter((group) => group.rules.length > 0);
  if (only.length === 0) throw new Error(`there is no alert ${alert}`);
  return { groups: only };
}

/** Has promtool evaluate the rule of an alert. @returns what it found wrong, in its words */
async function evaluate(alert: string, one: ReturnType<typeof testOf>): Promise<string> {
  if ('missing' in programs) throw new Error(programs.missing);
  const write = (name: string, content: object) => {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(content));
    return file;
  };
  const rule_files = [write('rules.json', rulesOf(alert))];
  const file = write('case.json', { rule_files, evaluation_interval: one.interval, tests: [one] });
  try {
    await promisify(execFile)(join(programs.folder, 'promtool'), ['test', 'rules', file]);
    return '';
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}` || String(error);
  }
}

const titled = <T extends { alert: string; when?: string }>(cases: readonly T[]) =>
  cases.map((one) => ({ ...one, title: one.when === undefined ? one.alert : `${one.alert} (${one.when})` }));

if ('missing' in programs) notTried('the alerts are evaluated by Prometheus', programs.missing);
else {
  test('promtool accepts the rules', async () => {
    const { stdout } = await promisify(execFile)(join(programs.folder, 'promtool'), [
      'check',
      'rules',
      RULES,
    ]);
    expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  test.each(titled(ruleCases))('$title fires when it should, says what it says, and ends', async (one) => {
    expect(await evaluate(one.alert, firing(one))).toBe('');
  });

  test.each(titled(silentCases))('$alert is silent while $when', async (one) => {
    expect(await evaluate(one.alert, silent(one))).toBe('');
  });
}

test('each alert of the rules is tried here', () => {
  const tried = new Set(ruleCases.map(({ alert }) => alert));
  expect(rules.map(({ alert }) => alert).filter((alert) => !tried.has(alert))).toEqual([]);
  expect(rules.length).toBeGreaterThan(30);
});
