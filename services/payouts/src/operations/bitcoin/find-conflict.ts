import type { Spender } from '@quittance/chains/bitcoin/sender';
import type { BitcoinPorts } from '../../ports.ts';
import { attemptsOf, type Family, noteSearched } from '../../store-transactions.ts';

/** How many blocks a round searches. */
const BLOCKS_PER_ROUND = 256;
/** What is dead stays dead: it is not buried before hardly a reorganisation reaches the proof, however little a payment asks. */
const PROOF_CONFIRMATIONS = 6;
/** A coin is gone when the one it was made of is gone, and so on: rarely more than one step. */
const STEPS_MAX = 8;

/** The coin that is gone for good, and the transaction that proves it, as deep as a proof has to be. */
export type Conflict = { coin: string; by: Spender };

/** An output whose spender, when it is not one of `ours`, means that `coin` will never be there. */
type Suspect = { outpoint: string; coin: string; ours: ReadonlySet<string> };

/**
 * Searches the blocks since a family was signed for a transaction that can never stand beside any of its attempts.
 * Where a coin is not in the chain at all, because the transaction it comes from was dropped, that one's coins are
 * searched for instead, as far as the node still knows what it spent. What was searched is remembered: a long search
 * goes on in the next rounds, and begins anew when it found nothing.
 */
export async function findConflict(
  { db, sender }: Pick<BitcoinPorts, 'db' | 'sender'>,
  [first]: Family,
  gone: readonly string[],
): Promise<Conflict | undefined> {
  const attempts = new Set((await attemptsOf(db, first.family)).map(({ txHash }) => txHash));
  const suspects = await suspectsOf(
    { sender },
    gone.map((outpoint) => ({ outpoint, coin: outpoint, ours: attempts })),
  );
  const byOutpoint = new Map(suspects.map((suspect) => [suspect.outpoint, suspect]));
  const begin = (first.finalHeightWhenSigned ?? 0) + 1;
  const from = first.searchedTo === null ? begin : first.searchedTo + 1;
  // Only what is so deep proves anything.
  const deepest = (await sender.height()) - Math.max(first.minConfirmations, PROOF_CONFIRMATIONS) + 1;
  const to = Math.min(deepest, from + BLOCKS_PER_ROUND - 1);
  const spenders = await sender.findSpenders([...byOutpoint.keys()], from, to);
  for (const by of spenders) {
    const suspect = byOutpoint.get(by.outpoint);
    if (suspect !== undefined && !suspect.ours.has(by.txHash)) return { coin: suspect.coin, by };
  }
  await noteSearched(db, first.id, to < deepest ? to : begin - 1);
  return undefined;
}

/** Follows coins that are not in the chain to those they were made of. */
async function suspectsOf(
  { sender }: Pick<BitcoinPorts, 'sender'>,
  gone: readonly Suspect[],
): Promise<Suspect[]> {
  const all: Suspect[] = [];
  let next = gone;
  for (let step = 0; step < STEPS_MAX && next.length > 0; step++) {
    all.push(...next);
    const deeper: Suspect[] = [];
    for (const { outpoint, coin } of next) {
      const [source = ''] = outpoint.split(':');
      if ((await sender.status(source)).state !== 'absent') continue;
      const inputs = (await sender.inputsOf(source)) ?? [];
      deeper.push(...inputs.map((input) => ({ outpoint: input, coin, ours: new Set([source]) })));
    }
    next = deeper;
  }
  return all;
}
