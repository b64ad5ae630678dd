import { assets, nativeAsset } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { formatUnits, type Units } from '@quittance/shared/money';
import { insertSigned, type Transaction } from '../../store/transactions.ts';
import {
  assignSweep,
  lockDeposits,
  postponeDeposits,
  type UnsweptDeposits,
} from '../../store/unswept-deposits.ts';
import { keepLease } from '../keep-lease.ts';
import { sendTransaction } from '../send-transaction.ts';
import type { AccountChainPorts, ChainTerms } from './driver.ts';

/** A deposit that cannot be swept is skipped for this time, so that others are swept instead. */
const AGAIN_AFTER_MS = 10 * 60_000;

/** `gasCost`: the highest fee that the hot wallet pays for a token sweep. */
export type PlannedSweep = { unswept: UnsweptDeposits; gasCost: Units; minConfirmations: number };

/** Thrown to roll back the database transaction that signs: a nonce that it took is not used then. */
class NotNow extends Error {}

/**
 * Signs and sends sweeps. The fees of token sweeps are reserved first; native sweeps share the rest of `hotFree`.
 * @returns how many were signed.
 */
export async function signSweeps(
  ports: AccountChainPorts,
  lease: Lease,
  terms: ChainTerms,
  planned: readonly PlannedSweep[],
  hotFree: bigint,
): Promise<number> {
  const { sender, chain } = ports;
  let left = planned.reduce((free, { gasCost }) => free - gasCost, hotFree);
  let signed = 0;
  for (const sweep of planned) {
    await keepLease(ports, lease);
    const transaction = await signSweep(ports, lease, terms, sweep, left);
    if (transaction === undefined) continue;
    const { asset, wallet, maxCost } = transaction;
    if (asset === nativeAsset[chain] && wallet === sender.hotAddress) left -= maxCost;
    signed += 1;
    await sendTransaction(ports, transaction);
  }
  return signed;
}

/** Signs a sweep of a deposit address and stores its bytes. Undefined when it cannot be swept now. */
async function signSweep(
  ports: AccountChainPorts,
  lease: Lease,
  terms: ChainTerms,
  { unswept, minConfirmations }: PlannedSweep,
  hotFree: bigint,
): Promise<Transaction | undefined> {
  const { db, kind: accountKind, chain, clock } = ports;
  const { asset, address, amount, depositIds } = unswept;
  const draft = isOurs(ports, unswept) ? await terms.draftSweep(unswept, hotFree) : undefined;
  if (draft === undefined) {
    await postponeDeposits(db, depositIds, new Date(clock.now().getTime() + AGAIN_AFTER_MS));
    return undefined;
  }
  try {
    const stored = await db.transaction(async (trx) => {
      await assertLease(trx, lease);
      // A deposit was reversed or swept since the plan was made.
      if ((await lockDeposits(trx, depositIds)) !== amount) throw new NotNow();
      const made = await draft(trx);
      if (made === undefined) throw new NotNow();
      const { token: fence } = lease;
      const first = { after: undefined, sweptAddress: address, chain, asset, minConfirmations, fence };
      const transaction = await insertSigned(trx, { ...first, ...made });
      await assignSweep(trx, depositIds, transaction.group);
      failpoint(`${accountKind}.sweeps.signing`);
      return transaction;
    });
    failpoint(`${accountKind}.sweeps.signed`);
    return stored;
  } catch (error) {
    if (error instanceof NotNow) return undefined;
    throw error;
  }
}

/** Whether we have the key of the address. */
function isOurs(
  { sender, throttledLog }: AccountChainPorts,
  { address, derivationIndex }: UnsweptDeposits,
): boolean {
  const ours = sender.depositAddress(derivationIndex);
  if (ours === address) return true;
  const details = { address, index: derivationIndex, derived: ours };
  const message = 'a deposit address does not derive from WALLET_SEED, it cannot be swept';
  throttledLog.log('error', 'sweep.foreign', details, message);
  return false;
}

/** Logs that a deposit address has less than its settled deposits. */
export function reportMissing(
  { throttledLog }: Pick<AccountChainPorts, 'throttledLog'>,
  { asset, address, amount }: UnsweptDeposits,
  there: Units,
): void {
  const { decimals } = assets[asset];
  const details = {
    address,
    asset,
    has: formatUnits(there, decimals),
    settled: formatUnits(amount, decimals),
  };
  const message = 'a deposit address has less than was deposited';
  throttledLog.log('error', `sweep.missing.${address}.${asset}`, details, message);
}
