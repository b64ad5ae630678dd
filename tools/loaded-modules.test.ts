import { expect, test } from '@jest/globals';
import { services } from '@quittance/shared/events';
import { recordedCounts } from '@quittance/testkit/recorded-counts';
import { loadedModules } from './loaded-modules.ts';
import { root } from './tracked-files.ts';

/** A new file of our own needs no word, ten do. */
const STEP = 10;

const inSteps = ({ own, packages }: { own: number; packages: number }) => ({
  own: Math.ceil(own / STEP) * STEP,
  packages,
});

/** Each module is read, compiled and kept by every process of the service. */
test('each service loads as many modules as are recorded', () => {
  const today = Object.fromEntries(
    services.map((service) => [service, inSteps(loadedModules(root, `services/${service}/src/service.ts`))]),
  );
  expect(Object.values(today).every(({ own, packages }) => own > 20 && packages > 50)).toBe(true);
  expect(today).toEqual(recordedCounts(new URL('loaded-modules.json', import.meta.url), today));
});

/** A command loads the rest that it needs itself: a list of invoices needs no libraries of databases and chains. */
test('the command line loads fewer than 300 modules before a command runs', () => {
  const { own, packages } = loadedModules(root, 'apps/cli/src/run.ts');
  expect(own).toBeGreaterThan(20);
  expect(own + packages).toBeLessThan(300);
});
