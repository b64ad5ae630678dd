import { loadConfig } from '@quittance/shared/config';
import { armCrashPoint } from '@quittance/shared/crash';
import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startWebhooks } from './service.ts';

await runService('webhooks', async () => {
  const config = loadConfig('webhooks', configSchema, process.env);
  armCrashPoint(config.CRASH_AT);
  return await startWebhooks(config);
});
