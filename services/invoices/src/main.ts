import { loadConfig } from '@quittance/shared/config';
import { armCrashPoint } from '@quittance/shared/crash';
import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startInvoices } from './service.ts';

await runService('invoices', async () => {
  const config = loadConfig('invoices', configSchema, process.env);
  armCrashPoint(config.CRASH_AT);
  return await startInvoices(config);
});
