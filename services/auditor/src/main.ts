import { loadConfig } from '@quittance/shared/config';
import { armCrashPoint } from '@quittance/shared/crash';
import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startAuditor } from './service.ts';

await runService('auditor', () => {
  const config = loadConfig('auditor', configSchema, process.env);
  armCrashPoint(config.CRASH_AT);
  return startAuditor(config);
});
