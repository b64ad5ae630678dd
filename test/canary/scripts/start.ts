// breaks: engines-are-for-sandbox-and-tests
import { anvil } from '../packages/engines/src/anvil.ts';

export const start = anvil;
