import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
export const RULES = join(root, 'deploy/prometheus/alerts.yml');
const FETCH = join(root, 'tools/setup/fetch-prometheus.mjs');
const execute = promisify(execFile);

/** The folder of `prometheus` and `promtool`, which are fetched once when this machine has none, or why there are none. */
export async function prometheusPrograms(): Promise<{ folder: string } | { missing: string }> {
  try {
    const { stdout } = await execute(process.execPath, [FETCH]);
    return { folder: stdout.trim() };
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    return { missing: stderr?.trim().split('\n').at(-1) ?? String(error) };
  }
}

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.record(z.string(), z.string()),
          annotations: z.record(z.string(), z.string()),
        }),
      ),
    }),
  ),
});
export type Rules = z.infer<typeof rulesSchema>;

/** The rules as operators have them. */
export const alertRules = (): Rules => rulesSchema.parse(parse(readFileSync(RULES, 'utf8')));
