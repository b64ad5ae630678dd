import { anvil } from '../../engines/src/anvil.ts';

export const builder = anvil;
