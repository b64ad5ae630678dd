import { failpoint } from '@quittance/shared/failpoint';
import type { Ports } from '../ports.ts';
import { writeUses } from '../store/tokens.ts';

/** Writes when tokens were last used, many in one statement. @returns how many. */
export async function writeTokenUses({ db, tokenUses }: Pick<Ports, 'db' | 'tokenUses'>): Promise<number> {
  const uses = tokenUses.take();
  if (uses.size === 0) return 0;
  failpoint('gateway.uses_taken');
  try {
    await writeUses(db, uses);
  } catch (error) {
    tokenUses.putBack(uses);
    throw error;
  }
  failpoint('gateway.uses_written');
  return uses.size;
}
