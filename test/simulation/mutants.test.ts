import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { emptyWiring } from './mutant.ts';
import { mutants } from './mutants/mutants.ts';

const root = new URL('../../', import.meta.url).pathname;
const written = (service: string): string =>
  globSync([`services/${service}/src/**/*.ts`, 'packages/shared/src/*.ts'], { cwd: root })
    .map((path) => readFileSync(`${root}${path}`, 'utf8'))
    .join('\n');

/** That each of them is found is shown by `npm run test:simulation`, which applies them one after the other. */
describe('the mutants', () => {
  it('are many, and each has a name and words of its own', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(24);
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
    expect(new Set(mutants.map(({ what }) => what)).size).toBe(mutants.length);
  });

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    '%s changes something',
    (_name, mutant) => {
      const wiring = emptyWiring();
      mutant.apply(wiring);
      const { sql, files, db, bus, clock, routes, steps, reader, sender, signer } = wiring;
      const ports = [db, bus, clock, steps].flatMap((wraps) => Object.values(wraps));
      expect(
        sql.size +
          files.size +
          routes.size +
          ports.length +
          [reader, sender, signer].filter((wrap) => wrap !== undefined).length,
      ).toBeGreaterThan(0);
      for (const name of sql.keys()) {
        const [service = '', statement = ''] = name.split('.');
        expect(written(service === '*' ? 'ledger' : service)).toContain(`'${statement}',`);
      }
    },
  );
});
