import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetched } from '@quittance/engines/fetched';
import { reason } from '@quittance/shared/logger';
import { parse } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
export const RULES = join(root, 'deploy/prometheus/alerts.yml');

/** The folder of `prometheus` and `promtool`, which are fetched once when this machine has none, or why there are none. */
export async function prometheusPrograms(): Promise<{ folder: string } | { missing: string }> {
  try {
    return { folder: await fetched('fetch-prometheus') };
  } catch (error) {
    return { missing: reason(error) };
  }
}

const rulesSchema = z.object({
  groups: z.array(
    z.looseObject({
      name: z.string(),
      rules: z.array(
        z.looseObject({
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
