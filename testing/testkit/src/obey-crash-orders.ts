import { readFileSync, rmSync } from 'node:fs';
import { armFailpoint } from '@quittance/shared/failpoint';

/** Loaded into a service's process before the service: on SIGUSR2 it reads where to die, as if `CRASH_AT` had said so. */
const orders = process.env['CRASH_ORDERS'];

process.on('SIGUSR2', () => {
  if (orders === undefined) return;
  armFailpoint(readFileSync(orders, 'utf8'));
  rmSync(orders);
});
