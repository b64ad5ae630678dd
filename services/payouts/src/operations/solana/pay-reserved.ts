import { feesAt } from '@quittance/chains/solana/transaction';
import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import { crashPoint } from '@quittance/shared/crash';
import type { Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { type Units, units } from '@quittance/shared/money';
import type { Plan, Queued } from '../../domain/plan.ts';
import { amountOf } from '../../domain/purse.ts';
import { priceMost, priceOf } from '../../domain/solana/prices.ts';
import type { SolanaPorts } from '../../ports.ts';
import { type Payout, reservedPayouts } from '../../store-payouts.ts';
import { failUnsigned } from '../fail-unsigned.ts';
import { keepLease } from '../keep-lease.ts';
import { lookAhead, type Means as OfAnyKind, PAYOUTS_PER_ASSET } from '../look-ahead.ts';
import { sayShort } from '../say-short.ts';
import { sendTransaction } from '../send-transaction.ts';
import { lookForTreasures, type Treasure } from './look-for-treasures.ts';
import { lookIntoPurse } from './look-into-purse.ts';
import { signPayout } from './sign-payout.ts';
import { signSweep } from './sign-sweep.ts';

const TRIED_TOGETHER = 8;

type Candidate = Queued & { payout: Payout };
type Rents = { wallet: Units; tokenAccount: Units };
/** What everything costs at the moment, and what payouts can be paid from. */
type Means = OfAnyKind<Treasure> & { unitPrice: bigint; rents: Rents };

/**
 * Pays those payouts, oldest first, that the hot wallet can pay now, and sweeps deposits for those that come next.
 * @returns how many were signed or found impossible; 0 means that nobody can be paid at the moment.
 */
export async function payReserved(ports: SolanaPorts, lease: Lease): Promise<number> {
  const { db, assets: payable } = ports;
  const fromStart = new Map(payable.map((asset) => [asset, '0']));
  const oldest = await reservedPayouts(db, fromStart, PAYOUTS_PER_ASSET);
  if (oldest.length === 0) return 0;
  const means = await lookForMeans(ports, new Set(oldest.map(({ asset }) => asset)));
  const { plan } = await lookAhead(ports, oldest, means, (payout) => candidateOf(payout, means));
  crashPoint('solana.planned');
  for (const shortage of plan.short) sayShort(ports, shortage);
  const swept = await sweep(ports, lease, plan, means);
  return swept + (await pay(ports, lease, plan.pay, means));
}

async function lookForMeans(ports: SolanaPorts, wanted: ReadonlySet<AssetSymbol>): Promise<Means> {
  const { chain, sender } = ports;
  const assetsInUse = new Set([nativeAsset[chain], ...wanted]);
  const [unitPrice, rents] = [await sender.unitPrice(), await sender.rents()];
  const purse = await lookIntoPurse(ports, assetsInUse);
  const treasures = await lookForTreasures(ports, assetsInUse, unitPrice, rents.tokenAccount);
  return { unitPrice, rents, purse, treasures, beyond: new Map() };
}

function candidateOf(payout: Payout, { unitPrice, rents }: Means): Candidate {
  const { asset, amount } = payout;
  const { type } = assets[asset];
  const fee = feesAt(priceMost(unitPrice)).transfer[type];
  return { payout, asset, amount, gasCost: units(type === 'token' ? fee + rents.tokenAccount : fee) };
}

async function sweep(
  ports: SolanaPorts,
  lease: Lease,
  plan: Plan<Candidate, Treasure>,
  { unitPrice, rents, purse }: Means,
): Promise<number> {
  const { sender, chain } = ports;
  if (plan.sweep.length === 0) return 0;
  const finalHeight = await sender.finalizedHeight();
  const waiting = [...plan.pay, ...plan.waiting].map(({ payout }) => payout.minConfirmations);
  const minConfirmations = Math.max(...waiting);
  // The fees of those that bring tokens are set aside by the plan; those that bring native money share what is left.
  const toPay = plan.pay.reduce((sum, { asset, amount, gasCost }) => {
    return sum + gasCost + (asset === nativeAsset[chain] ? amount : 0n);
  }, 0n);
  const ofTokens = plan.sweep.reduce((sum, { gasCost }) => sum + gasCost, 0n);
  let hotFree = amountOf(purse.free, nativeAsset[chain]) - toPay - ofTokens;
  let signed = 0;
  for (const { holding } of plan.sweep) {
    await keepLease(ports, lease);
    const lifetime = await sender.lifetime();
    const terms = { lifetime, unitPrice, rents, hotFree, minConfirmations, finalHeight };
    const transaction = await signSweep(ports, lease, { holding, ...terms });
    if (transaction === undefined) continue;
    if (holding.asset === nativeAsset[chain] && transaction.wallet === sender.hotAddress) {
      hotFree -= transaction.maxCost;
    }
    signed += 1;
    await sendTransaction(ports, transaction);
  }
  return signed;
}

async function pay(
  ports: SolanaPorts,
  lease: Lease,
  candidates: readonly Candidate[],
  { unitPrice, rents }: Means,
): Promise<number> {
  const { sender } = ports;
  let moved = 0;
  for (let from = 0; from < candidates.length; from += TRIED_TOGETHER) {
    await keepLease(ports, lease);
    // New for every few: what is signed with it is valid for a minute.
    const lifetime = await sender.lifetime();
    const finalHeight = await sender.finalizedHeight();
    const orders = candidates.slice(from, from + TRIED_TOGETHER).map(({ payout }) => ({
      payout,
      finalHeight,
      order: {
        asset: payout.asset,
        to: payout.address,
        amount: payout.amount,
        tokenAccountRent: rents.tokenAccount,
        unitPrice: priceOf(unitPrice, payout.seq, 0),
        lifetime,
      },
    }));
    const verdicts = await Promise.allSettled(orders.map(({ order }) => sender.tryTransfer(order)));
    for (const [i, one] of orders.entries()) {
      const verdict = verdicts[i] as PromiseSettledResult<'works' | 'refused'>;
      if (verdict.status === 'rejected') {
        // No trial is no refusal. The payout waits, and does not hold up the others.
        const said = { payout: one.payout.id, reason: reason(verdict.reason) };
        ports.notices.say(
          'warn',
          `trial.${one.payout.id}`,
          said,
          'a transfer could not be tried, trying again',
        );
        continue;
      }
      if (verdict.value === 'refused') {
        await failUnsigned(ports, lease, one.payout);
        moved += 1;
        continue;
      }
      const transaction = await signPayout(ports, lease, one);
      if (transaction === undefined) continue;
      moved += 1;
      await sendTransaction(ports, transaction);
    }
  }
  return moved;
}
