import { invariant } from '@quittance/shared/result';
import { nonce } from './nonce.ts';

export const fee = () => invariant(nonce() > 0, 'a fee is positive');
