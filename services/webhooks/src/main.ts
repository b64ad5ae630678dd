import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startWebhooks } from './service.ts';

await runService('webhooks', configSchema, startWebhooks, process.env);
