import type { EvmFees } from '@quittance/chains/chain';
import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import { crashPoint } from '@quittance/shared/crash';
import type { Lease } from '@quittance/shared/lease';
import { type Units, units } from '@quittance/shared/money';
import { planRun, type Queued } from '../../domain/plan.ts';
import type { EvmPorts } from '../../ports.ts';
import { type Payout, reservedPayouts } from '../../store-payouts.ts';
import { failUnsigned } from '../fail-unsigned.ts';
import { keepLease } from '../keep-lease.ts';
import { lookAhead, PAYOUTS_PER_ASSET } from '../look-ahead.ts';
import { sayShort } from '../say-short.ts';
import { sendTransaction } from '../send-transaction.ts';
import { lookForTreasures } from './look-for-treasures.ts';
import { lookIntoPurse } from './look-into-purse.ts';
import { openWallet } from './open-wallet.ts';
import { signPayout } from './sign-payout.ts';
import { signSweep } from './sign-sweep.ts';

const ASKED_TOGETHER = 8;

/** What a transfer is taken to need until its turn comes and the node is asked. */
const USUAL_GAS = { native: 21_000n, token: 90_000n } as const;

/** `gas`: the node's estimate, once it was asked. */
type Candidate = Queued & { payout: Payout; gas: bigint | undefined };

/**
 * Pays those payouts, oldest first, that the hot wallet can pay now, and sweeps deposits for those that come next.
 * @returns how many were signed or found impossible; 0 means that nobody can be paid at the moment.
 */
export async function payReserved(ports: EvmPorts, lease: Lease): Promise<number> {
  const { db, chain, sender, assets: payable } = ports;
  const oldest = await reservedPayouts(db, new Map(payable.map((asset) => [asset, '0'])), PAYOUTS_PER_ASSET);
  if (oldest.length === 0) return 0;
  if (!(await openWallet(ports, lease, sender.hotAddress))) return 0;

  const fees = await sender.fees();
  const finalHeight = await sender.finalizedHeight();
  const assetsInUse = new Set<AssetSymbol>([nativeAsset[chain], ...oldest.map(({ asset }) => asset)]);
  const purse = await lookIntoPurse(ports, assetsInUse);
  const treasures = await lookForTreasures(ports, assetsInUse, fees);

  const means = { purse, treasures, beyond: new Map<AssetSymbol, Units>() };
  const guess = (payout: Payout) => candidateOf(payout, undefined, fees);
  const { queue: guessed, plan: first } = await lookAhead(ports, oldest, means, guess);
  const { estimated, refused } = await estimate(ports, first.pay);
  for (const payout of refused) await failUnsigned(ports, lease, payout);
  const queue = guessed
    .filter(({ payout }) => !refused.includes(payout))
    .map(({ payout }) => candidateOf(payout, estimated.get(payout), fees));
  const plan = planRun(chain, queue, purse, treasures, means.beyond);
  crashPoint('evm.planned');
  for (const shortage of plan.short) sayShort(ports, shortage);

  let signed = 0;
  const minConfirmations = Math.max(...guessed.map(({ payout }) => payout.minConfirmations));
  for (const { holding } of plan.sweep) {
    await keepLease(ports, lease);
    const sweep = await signSweep(ports, lease, { holding, fees, minConfirmations, finalHeight });
    if (sweep === undefined) continue;
    signed += 1;
    await sendTransaction(ports, sweep);
  }
  for (const { payout, gas } of plan.pay) {
    // Its turn came when another was refused: it is asked about in the next round.
    if (gas === undefined) continue;
    await keepLease(ports, lease);
    const transaction = await signPayout(ports, lease, { payout, gas, fees, finalHeight });
    if (transaction === undefined) continue;
    signed += 1;
    await sendTransaction(ports, transaction);
  }
  return signed + refused.length;
}

function candidateOf(payout: Payout, gas: bigint | undefined, fees: EvmFees): Candidate {
  const { asset, amount } = payout;
  const gasCost = units((gas ?? USUAL_GAS[assets[asset].type]) * fees.maxFeePerGas);
  return { payout, asset, amount, gas, gasCost };
}

/** Asks the node what the transfers need, and which recipients would refuse them. */
async function estimate(
  { sender, notices }: EvmPorts,
  candidates: readonly Candidate[],
): Promise<{ estimated: Map<Payout, bigint>; refused: Payout[] }> {
  const estimated = new Map<Payout, bigint>();
  const refused: Payout[] = [];
  for (let from = 0; from < candidates.length; from += ASKED_TOGETHER) {
    const some = candidates.slice(from, from + ASKED_TOGETHER).map(({ payout }) => payout);
    const answers = await Promise.allSettled(
      some.map(({ asset, address, amount }) => sender.estimateTransfer(asset, address, amount)),
    );
    for (const [i, payout] of some.entries()) {
      const answer = answers[i] as PromiseSettledResult<bigint | 'reverts'>;
      if (answer.status === 'rejected') {
        // No estimate is no refusal. The payout waits, and does not hold up the others.
        const said = { payout: payout.id, reason: String(answer.reason) };
        notices.say('warn', `estimate.${payout.id}`, said, 'a transfer could not be estimated, trying again');
      } else if (answer.value === 'reverts') refused.push(payout);
      else estimated.set(payout, answer.value);
    }
  }
  return { estimated, refused };
}
