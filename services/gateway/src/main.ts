import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startGateway } from './service.ts';

await runService('gateway', configSchema, startGateway, process.env);
