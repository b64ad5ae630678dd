import { enableCompileCache } from 'node:module';
import { COMPILED } from '@quittance/stack/compiled-code';

// `npm run pay`: nothing else is loaded before what Node has compiled is there.
enableCompileCache(COMPILED);
await import('./pay-invoice.ts');
