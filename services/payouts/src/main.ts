import { loadConfig } from '@quittance/shared/config';
import { armCrashPoint } from '@quittance/shared/crash';
import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startPayouts } from './service.ts';

await runService('payouts', async () => {
  const config = loadConfig('payouts', configSchema, process.env);
  armCrashPoint(config.CRASH_AT);
  return await startPayouts(config);
});
