import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { emptyWiring } from './design.ts';
import { designs } from './designs/designs.ts';

const root = new URL('../../', import.meta.url).pathname;
const written = (service: string): string =>
  globSync([`services/${service}/src/**/*.ts`, 'packages/shared/src/*.ts'], { cwd: root })
    .map((path) => readFileSync(`${root}${path}`, 'utf8'))
    .join('\n');

/** That each of them is found is shown by `npm run test:simulation`, which plants them one after the other. */
describe('the wrong designs', () => {
  it('are many, and each has a name and words of its own', () => {
    expect(designs.length).toBeGreaterThanOrEqual(24);
    expect(new Set(designs.map(({ name }) => name)).size).toBe(designs.length);
    expect(new Set(designs.map(({ what }) => what)).size).toBe(designs.length);
  });

  it.each(designs.map((design) => [design.name, design] as const))(
    '%s changes something',
    (_name, design) => {
      const wiring = emptyWiring();
      design.plant(wiring);
      const { sql, db, bus, clock, steps, reader, sender } = wiring;
      const ports = [db, bus, clock, steps].flatMap((wraps) => Object.values(wraps));
      expect(
        sql.size + ports.length + [reader, sender].filter((wrap) => wrap !== undefined).length,
      ).toBeGreaterThan(0);
      for (const name of sql.keys()) {
        const [service = '', statement = ''] = name.split('.');
        expect(written(service === '*' ? 'ledger' : service)).toContain(`'${statement}',`);
      }
    },
  );
});
