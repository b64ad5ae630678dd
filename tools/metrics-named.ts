import { readFileSync } from 'node:fs';
import { services } from '@quittance/shared/events';

/** A row of the table of metrics in docs/monitor.md. */
export type Documented = { name: string; labels: string[]; services: string[] };

const MONITOR = new URL('../docs/monitor.md', import.meta.url);

/** What the operators' document says there is. */
export function documentedMetrics(text = readFileSync(MONITOR, 'utf8')): Documented[] {
  return [...text.matchAll(/^\| `(quittance_\w+)(?:\{([\w,]+)\})?` \| ([^|]+) \|/gm)].map(
    ([, name = '', labels, of = '']) => ({
      name,
      labels: labels?.split(',') ?? [],
      services: servicesOf(of),
    }),
  );
}

function servicesOf(text: string): string[] {
  const [all, but] = text.trim().split(' but ');
  if (all === 'all') return services.filter((service) => service !== but);
  return text.trim().split(', ');
}
