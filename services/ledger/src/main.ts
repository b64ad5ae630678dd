import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startLedger } from './service.ts';

await runService('ledger', configSchema, startLedger, process.env);
