import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startPayouts } from './service.ts';

await runService('payouts', configSchema, startPayouts, process.env);
