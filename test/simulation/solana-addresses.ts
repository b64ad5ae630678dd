import { openWallet } from '@quittance/chains/solana/wallet';

export const DEPOSIT = 'deposit';
export const HOT = 'hot';

/** Keys are slow, and everybody may know these: what a process derived once it keeps. Nothing is signed here. */
const known = new Map<string, string>();
/** Of those the ones whose keys are our wallet's. */
export const ours = new Set<string>();
export function address(role: typeof DEPOSIT | typeof HOT | 'stranger', index: number): string {
  const key = `${role} ${index}`;
  const found = known.get(key) ?? derive(role, index);
  known.set(key, found);
  if (role !== 'stranger') ours.add(found);
  return found;
}

let wallets: { ours: ReturnType<typeof openWallet>; strangers: ReturnType<typeof openWallet> } | undefined;
function derive(role: typeof DEPOSIT | typeof HOT | 'stranger', index: number): string {
  wallets ??= {
    ours: openWallet('test test test test test test test test test test test junk'),
    strangers: openWallet(`${'abandon '.repeat(11)}about`),
  };
  if (role === HOT) return wallets.ours.hotAddress;
  return (role === DEPOSIT ? wallets.ours : wallets.strangers).depositAddress(index);
}
