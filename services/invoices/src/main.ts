import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startInvoices } from './service.ts';

await runService('invoices', configSchema, startInvoices, process.env);
