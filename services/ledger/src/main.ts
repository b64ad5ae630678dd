import { loadConfig } from '@quittance/shared/config';
import { armCrashPoint } from '@quittance/shared/crash';
import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startLedger } from './service.ts';

await runService('ledger', () => {
  const config = loadConfig('ledger', configSchema, process.env);
  armCrashPoint(config.CRASH_AT);
  return startLedger(config);
});
