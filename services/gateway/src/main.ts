import { loadConfig } from '@quittance/shared/config';
import { armCrashPoint } from '@quittance/shared/crash';
import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startGateway } from './service.ts';

await runService('gateway', () => {
  const config = loadConfig('gateway', configSchema, process.env);
  armCrashPoint(config.CRASH_AT);
  return startGateway(config);
});
