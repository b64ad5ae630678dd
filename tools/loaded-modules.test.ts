import { expect, test } from '@jest/globals';
import { services } from '@quittance/shared/events';
import { recordedCounts } from '@quittance/testkit/recorded-counts';
import { loadedModules } from './loaded-modules.ts';
import { root } from './tracked-files.ts';

/** A new file of our own needs no word, ten do. */
const STEP = 10;

/** Each module is read, compiled and kept by every process of the service. */
test('each service loads as many modules as are recorded', () => {
  const today = Object.fromEntries(
    services.map((service) => {
      const { own, packages } = loadedModules(root, `services/${service}/src/service.ts`);
      return [service, { own: Math.ceil(own / STEP) * STEP, packages }];
    }),
  );
  expect(Object.values(today).every(({ own, packages }) => own > 20 && packages > 50)).toBe(true);
  expect(today).toEqual(recordedCounts(new URL('loaded-modules.json', import.meta.url), today));
});
