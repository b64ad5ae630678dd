import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startAuditor } from './service.ts';

await runService('auditor', configSchema, startAuditor, process.env);
