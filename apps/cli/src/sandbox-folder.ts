import { fileURLToPath } from 'node:url';

/**
 * Where `npm start` keeps its data when SANDBOX_DIR is not set. Only programs that a person starts read this path and
 * hand it on. A test that could see it would depend on what was started in the checkout before.
 */
export const CHECKOUT_SANDBOX = fileURLToPath(new URL('../../../.sandbox', import.meta.url));
