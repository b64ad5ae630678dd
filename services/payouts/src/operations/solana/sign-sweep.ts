import type { Lifetime, SolanaSigned } from '@quittance/chains/solana/transaction';
import { feesAt } from '@quittance/chains/solana/transaction';
import { assets } from '@quittance/shared/assets';
import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { formatUnits, type Units, units } from '@quittance/shared/money';
import { nativeToSweep, takeFrom, whoPays } from '../../domain/solana/sweeping.ts';
import type { SolanaPorts } from '../../ports.ts';
import { assignSweep, type Holding, lockHoldings, postponeHoldings } from '../../store-holdings.ts';
import { insertSigned, type Transaction } from '../../store-transactions.ts';
import { insertWalletOnce } from '../../store-wallets.ts';

/** What cannot be swept is left out for a while, so that other deposits are used instead. */
const AGAIN_AFTER_MS = 10 * 60_000;

type SweepPorts = Pick<SolanaPorts, 'db' | 'chain' | 'sender' | 'clock' | 'notices'>;

export type SweepOrder = {
  holding: Holding;
  lifetime: Lifetime;
  unitPrice: bigint;
  rents: { wallet: Units; tokenAccount: Units };
  /** What the hot wallet can spare for fees, in lamports. */
  hotFree: bigint;
  minConfirmations: number;
  finalHeight: number;
};

/** Signed bytes, who pays for them, and what arrives at the hot wallet. */
type Sweep = { signed: SolanaSigned; wallet: string; arrives: Units };

/**
 * Signs the transaction that moves a deposit address' settled money to the hot wallet, which pays for it when it can, and
 * stores its bytes. Undefined when it cannot be done now.
 */
export async function signSweep(
  ports: SweepPorts,
  lease: Lease,
  order: SweepOrder,
): Promise<Transaction | undefined> {
  const { db, chain, sender, clock } = ports;
  const { asset, address, amount, depositIds } = order.holding;
  const sweep = isOurs(ports, order.holding) ? await sign(ports, order) : undefined;
  if (sweep === undefined) {
    await postponeHoldings(db, depositIds, new Date(clock.now().getTime() + AGAIN_AFTER_MS));
    return undefined;
  }
  const stored = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    // A deposit that was reversed, or taken along, since it was planned: plan again.
    if ((await lockHoldings(trx, depositIds)) !== amount) return undefined;
    await insertWalletOnce(trx, chain, sender.hotAddress, 'hot', null);
    if (sweep.wallet !== sender.hotAddress) await insertWalletOnce(trx, chain, address, 'deposit', null);
    const transaction = await insertSigned(trx, {
      after: undefined,
      chain,
      wallet: sweep.wallet,
      nonce: null,
      sweptAddress: address,
      asset,
      amount: sweep.arrives,
      signed: sweep.signed,
      minConfirmations: order.minConfirmations,
      fence: lease.token,
      finalHeight: order.finalHeight,
      validToHeight: sweep.signed.validToHeight,
      terms: null,
    });
    await assignSweep(trx, depositIds, transaction.family);
    crashPoint('solana.sweeps.signing');
    return transaction;
  });
  if (stored !== undefined) crashPoint('solana.sweeps.signed');
  return stored;
}

function sign(ports: SweepPorts, order: SweepOrder): Promise<Sweep | undefined> {
  return assets[order.holding.asset].type === 'token' ? signTokens(ports, order) : signNative(ports, order);
}

async function signNative(ports: SweepPorts, order: SweepOrder): Promise<Sweep | undefined> {
  const { sender } = ports;
  const { holding, lifetime, unitPrice, rents, hotFree } = order;
  const { address, amount, derivationIndex: index } = holding;
  const there = await sender.balance(holding.asset, address);
  if (there < amount) return missing(ports, holding, there);
  const fees = feesAt(unitPrice).sweep.native;
  const feeFrom = whoPays(hotFree, there, rents.wallet, fees);
  if (feeFrom === undefined) return undefined;
  const balance = nativeToSweep(there, amount, rents.wallet);
  const arrives = units(feeFrom === 'hot' ? balance : balance - fees.deposit);
  if (arrives <= fees[feeFrom]) return undefined;
  const signed = await sender.signNativeSweep({ index, balance, feeFrom, lifetime, unitPrice });
  return { signed, wallet: feeFrom === 'hot' ? sender.hotAddress : address, arrives };
}

async function signTokens(ports: SweepPorts, order: SweepOrder): Promise<Sweep | undefined> {
  const { sender } = ports;
  const { holding, lifetime, unitPrice, rents } = order;
  const { asset, amount, derivationIndex: index } = holding;
  const there = await sender.tokenAccounts(asset, index);
  const accounts = takeFrom(there, amount);
  if (accounts === undefined) {
    return missing(ports, holding, units(there.reduce((sum, one) => sum + one.amount, 0n)));
  }
  const { tokenAccount: tokenAccountRent } = rents;
  const terms = { lifetime, unitPrice, tokenAccountRent };
  const signed = await sender.signTokenSweep({ asset, index, accounts, ...terms });
  return { signed, wallet: sender.hotAddress, arrives: amount };
}

/** The address must be one that we have the key of. */
function isOurs({ sender, notices }: SweepPorts, { address, derivationIndex }: Holding): boolean {
  const ours = sender.depositAddress(derivationIndex);
  if (ours === address) return true;
  const said = { address, index: derivationIndex, derived: ours };
  const trouble = 'a deposit address does not derive from WALLET_SEED, it cannot be swept';
  notices.say('error', 'sweep.foreign', said, trouble);
  return false;
}

function missing({ notices }: SweepPorts, { asset, address, amount }: Holding, there: Units): undefined {
  const { decimals } = assets[asset];
  const said = { address, asset, has: formatUnits(there, decimals), settled: formatUnits(amount, decimals) };
  const trouble = 'a deposit address has less than was deposited';
  notices.say('error', `sweep.missing.${address}.${asset}`, said, trouble);
  return undefined;
}
