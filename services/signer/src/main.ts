import { runService } from '@quittance/shared/lifecycle';
import { configSchema } from './config.ts';
import { startSigner } from './service.ts';

await runService('signer', configSchema, startSigner, process.env);
