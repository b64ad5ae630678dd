import type { Ports } from '../ports.ts';
import { forgetOldKeys } from '../store.ts';

const BATCH = 500;

/** Forgets the answers to requests with an Idempotency-Key after 30 days. @returns how many */
export async function forgetOldAnswers({ db, clock }: Pick<Ports, 'db' | 'clock'>): Promise<number> {
  return await forgetOldKeys(db, clock.now(), BATCH);
}
