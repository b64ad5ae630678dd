import type { PayoutAddress, PayoutPolicy } from '@quittance/client';
import { compare } from '../../parts/decimal.ts';

/** What the payout policy will do with a payout, as far as it can be told before. */
export type PolicyNote = { kind: 'refused' | 'waits' | 'limited'; text: string };

type Wanted = { asset: string; amount: string; address: string };

/** Ethereum's addresses are the same in capitals, which are only their check sum. */
const isSame = (one: string, other: string): boolean =>
  one === other || (one.startsWith('0x') && one.toLowerCase() === other.toLowerCase());

/**
 * The service decides when the payout is requested: what others of 24 hours have taken is not known here.
 * @param book undefined when the reader does not know it
 */
export function policyNotes(
  { allow_list: isListed, limits }: Pick<PayoutPolicy, 'allow_list' | 'limits'>,
  book: readonly Pick<PayoutAddress, 'address' | 'chain' | 'usable_at'>[] | undefined,
  { asset, amount, address }: Wanted,
  chain: string,
  now: number,
): PolicyNote[] {
  const notes: PolicyNote[] = [];
  const refuse = (text: string) => notes.push({ kind: 'refused', text });
  if (isListed && book !== undefined) {
    const entry = book.find((one) => one.chain === chain && isSame(one.address, address));
    if (entry === undefined)
      refuse('Payouts go to the address book alone, and this address is not in it. This payout would fail.');
    else if (Date.parse(entry.usable_at) > now)
      refuse('The address is in the address book and cannot be used yet. This payout would fail.');
  }
  const own = limits.find((limit) => limit.asset === asset);
  if (own === undefined) return notes;
  const { per_payout: most, per_24h: perDay, approval_above: above, approvals } = own;
  if (most !== null && compare(amount, most) > 0)
    refuse(`One payout may be ${most} ${asset} at most. This payout would fail.`);
  else if (perDay !== null && compare(amount, perDay) > 0)
    refuse(`The payouts of 24 hours may be ${perDay} ${asset} together. This payout would fail.`);
  else if (perDay !== null)
    notes.push({
      kind: 'limited',
      text: `All payouts of 24 hours may be ${perDay} ${asset} together. Above that this one fails.`,
    });
  const isRefused = notes.some(({ kind }) => kind === 'refused');
  if (!isRefused && above !== null && compare(amount, above) > 0)
    notes.push({
      kind: 'waits',
      text: `It is above ${above} ${asset}, so it waits until ${othersOf(approvals ?? 1)} approved it.`,
    });
  return notes;
}

const othersOf = (count: number): string => (count === 1 ? 'somebody else has' : `${count} others have`);
