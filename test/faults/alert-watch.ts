import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withPort } from '@quittance/engines/free-port';
import { startEngine } from '@quittance/engines/process';
import { z } from 'zod';
import { alertRules, type Rules } from '../alerts/prometheus.ts';
import { recurring } from './recurring.ts';

/** Windows are this much shorter than those of operators, and as many samples long. */
const WINDOWS_SHORTER = 60;
/** Five samples at least: fewer say nothing of a rate. */
const WINDOW_MIN_S = 5;
/** How long a state lasts before an alert fires is shown by test/alerts. */
const WAITS_SHORTER = 300;
const SECONDS = { s: 1, m: 60, h: 3_600 } as const;
const ASK_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 500;

const answerSchema = z.object({
  data: z.object({
    alerts: z.array(
      z.object({
        state: z.string(),
        labels: z.record(z.string(), z.string()),
        annotations: z.record(z.string(), z.string()),
      }),
    ),
  }),
});
export type FiringAlert = z.infer<typeof answerSchema>['data']['alerts'][number];

export type AlertWatch = {
  /** What fires now. */
  firing(): Promise<FiringAlert[]>;
  /** What fires now or has fired since a time: some alerts fire for seconds. Each as often as it was seen. */
  firedSince(atMs: number): Promise<FiringAlert[]>;
  /** How many series an expression has now. */
  count(expression: string): Promise<number>;
  stop(): Promise<void>;
};

const secondsOf = (text: string, unit: string): number =>
  Number.parseInt(text, 10) * SECONDS[unit as keyof typeof SECONDS]; // eslint-disable-line no-restricted-syntax -- a time

/** The rules of operators, which wait less and look back less. Expressions and limits stay. */
function hastyRules({ groups }: Rules): Rules {
  const shorter = (_: string, before: string, text: string, unit: string): string =>
    `${before}${Math.max(WINDOW_MIN_S, secondsOf(text, unit) / WINDOWS_SHORTER)}s`;
  const sooner = (_: string, text: string, unit: string): string =>
    `${Math.round((secondsOf(text, unit) * 1_000) / WAITS_SHORTER)}ms`;
  return {
    groups: groups.map(({ name, rules }) => ({
      name,
      rules: rules.map((rule) => ({
        ...rule,
        expr: rule.expr.replaceAll(/(\[|offset )(\d+)([smh])/g, shorter),
        ...(rule.for === undefined ? {} : { for: rule.for.replace(/^(\d+)([smh])$/, sooner) }),
      })),
    })),
  };
}

/** A Prometheus that scrapes services every second and evaluates the rules of operators. */
export async function startAlertWatch(
  programs: string,
  { installation, ports }: { installation: string; ports: Readonly<Record<string, number>> },
): Promise<AlertWatch> {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-prometheus-'));
  const config = {
    global: {
      scrape_interval: '1s',
      evaluation_interval: '1s',
      external_labels: { installation },
    },
    rule_files: ['alerts.json'],
    scrape_configs: Object.entries(ports).map(([job_name, port]) => ({
      job_name,
      static_configs: [{ targets: [`127.0.0.1:${port}`] }],
    })),
  };
  writeFileSync(join(folder, 'alerts.json'), JSON.stringify(hastyRules(alertRules())));
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  return await withPort(0, async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const ask = async (path: string): Promise<unknown> => {
      const answer = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(ASK_WITHIN_MS) });
      if (!answer.ok) throw new Error(`Prometheus answers ${answer.status}: ${await answer.text()}`);
      return path.startsWith('/api') ? await answer.json() : undefined;
    };
    const engine = await startEngine({
      name: 'prometheus',
      stopSignal: 'SIGTERM',
      command: () => ({
        file: join(programs, 'prometheus'),
        args: [
          `--config.file=${join(folder, 'prometheus.yml')}`,
          `--storage.tsdb.path=${join(folder, 'data')}`,
          `--web.listen-address=127.0.0.1:${port}`,
          '--log.level=warn',
        ],
        env: {},
      }),
      ask: async () => void (await ask('/-/ready')),
    });
    const firing = async (): Promise<FiringAlert[]> => {
      const { data } = answerSchema.parse(await ask('/api/v1/alerts'));
      return data.alerts.filter(({ state }) => state === 'firing');
    };
    const fired: { atMs: number; alert: FiringAlert }[] = [];
    const look = async () => {
      const atMs = Date.now();
      for (const alert of await firing()) fired.push({ atMs, alert });
    };
    // That Prometheus does not answer is told to whoever asks.
    const looking = recurring(() => look().catch(() => undefined), LOOK_EVERY_MS);
    looking.begin();
    return {
      firing,
      async firedSince(atMs) {
        await look();
        return fired.filter((one) => one.atMs >= atMs).map(({ alert }) => alert);
      },
      async count(expression) {
        const answer = await ask(`/api/v1/query?query=${encodeURIComponent(expression)}`);
        return z.object({ data: z.object({ result: z.array(z.unknown()) }) }).parse(answer).data.result
          .length;
      },
      async stop() {
        await looking.end();
        await engine.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  });
}
