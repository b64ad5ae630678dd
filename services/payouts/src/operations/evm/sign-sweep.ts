import type { EvmFees } from '@quittance/chains/chain';
import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import { assets } from '@quittance/shared/assets';
import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { formatUnits, units } from '@quittance/shared/money';
import type { EvmPorts } from '../../ports.ts';
import { assignSweep, type Holding, lockHoldings, postponeHoldings } from '../../store-holdings.ts';
import type { Transaction } from '../../store-transactions.ts';
import { openWallet } from './open-wallet.ts';
import { type Signed, signWithNextNonce } from './sign-with-nonce.ts';

/** What cannot be swept is left out for a while, so that other deposits are used instead. */
const AGAIN_AFTER_MS = 10 * 60_000;

/** A plain transfer of native money, always. */
export const NATIVE_SWEEP_GAS = 21_000n;

type SweepPorts = Pick<EvmPorts, 'db' | 'chain' | 'sender' | 'clock' | 'random' | 'logger' | 'notices'>;

export type SweepOrder = { holding: Holding; fees: EvmFees; minConfirmations: number; finalHeight: number };

/** Thrown to undo the transaction that was to sign: a nonce taken in it is given back. */
class NotNow extends Error {}

/**
 * Signs the transaction that moves a deposit address' settled money to the hot wallet, and stores its bytes. Ether
 * leaves by a transaction of the address itself, tokens by one that the hot wallet sends and pays for (EIP-3009).
 * Undefined when it cannot be done now.
 */
export async function signSweep(
  ports: SweepPorts,
  lease: Lease,
  { holding, fees, minConfirmations, finalHeight }: SweepOrder,
): Promise<Transaction | undefined> {
  const { db, chain, sender, clock } = ports;
  const { asset, address, depositIds } = holding;
  const isNative = assets[asset].type === 'native';
  const isReady = (await isThere(ports, holding)) && (!isNative || (await openWallet(ports, lease, address)));
  if (!isReady) {
    await postponeHoldings(db, depositIds, new Date(clock.now().getTime() + AGAIN_AFTER_MS));
    return undefined;
  }

  const order = {
    chain,
    wallet: isNative ? address : sender.hotAddress,
    asset,
    minConfirmations,
    fence: lease.token,
    finalHeight,
    sweptAddress: address,
  };
  const stored = await undoneWhenNotNow(() =>
    db.transaction(async (trx: Trx) => {
      await assertLease(trx, lease);
      // A deposit that was reversed, or taken along, since it was planned: plan again.
      if ((await lockHoldings(trx, depositIds)) !== holding.amount) throw new NotNow();
      const transaction = await signWithNextNonce(trx, order, (nonce) => sign(ports, holding, nonce, fees));
      if (transaction === undefined) throw new NotNow();
      await assignSweep(trx, depositIds, transaction.family);
      crashPoint('evm.sweeps.signing');
      return transaction;
    }),
  );
  if (stored !== undefined) crashPoint('evm.sweeps.signed');
  return stored;
}

async function sign(
  { sender, random }: SweepPorts,
  { asset, amount, derivationIndex: index }: Holding,
  nonce: number,
  fees: EvmFees,
): Promise<Signed | undefined> {
  if (assets[asset].type === 'token') {
    const authorization = `0x${Buffer.from(random(32)).toString('hex')}`;
    const gas = TOKEN_SWEEP_GAS;
    const order = { asset, index, amount, nonce, authorizationNonce: authorization, gas, fees };
    return { signed: await sender.signTokenSweep(order), amount, terms: { gas, fees, authorization } };
  }
  const signed = await sender.signNativeSweep({ index, balance: amount, nonce, fees });
  if (signed === 'not_worth_it') return undefined;
  return { signed, amount: units(amount - signed.maxCost), terms: { gas: NATIVE_SWEEP_GAS, fees } };
}

/** What the books of deposits say must be on the address, and the address must be one that we have the key of. */
async function isThere({ sender, notices }: SweepPorts, holding: Holding): Promise<boolean> {
  const { asset, address, derivationIndex, amount } = holding;
  const ours = sender.depositAddress(derivationIndex);
  if (ours !== address) {
    const said = { address, index: derivationIndex, derived: ours };
    notices.say(
      'error',
      'sweep.foreign',
      said,
      'a deposit address does not derive from WALLET_SEED, it cannot be swept',
    );
    return false;
  }
  const there = await sender.balance(asset, address);
  if (there >= amount) return true;
  const { decimals } = assets[asset];
  const said = { address, asset, has: formatUnits(there, decimals), settled: formatUnits(amount, decimals) };
  notices.say(
    'error',
    `sweep.missing.${address}.${asset}`,
    said,
    'a deposit address has less than was deposited',
  );
  return false;
}

async function undoneWhenNotNow<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotNow) return undefined;
    throw error;
  }
}
