import type { Block, Payment } from '@quittance/chains/chain';
import type { Chain } from '@quittance/shared/assets';
import type { Trx } from '@quittance/shared/db';
import { newDepositId } from '@quittance/shared/ids';
import {
  type BlockPayment,
  type Deposit,
  earlier,
  type KnownDeposit,
  matchDeposit,
} from '../domain/deposit.ts';
import type { Ports } from '../ports.ts';
import type { OurAddress } from '../store/addresses.ts';
import { type Contradiction, saveContradictions } from '../store/contradictions.ts';
import { type KnownBlock, saveSpends } from '../store/cursors.ts';
import {
  depositsByOutpoint,
  insertDeposits,
  type NewDeposit,
  type ReturnedDeposit,
  returnDeposits,
} from '../store/deposits.ts';
import { endMempoolPayments } from '../store/mempool-payments.ts';

type Known = KnownDeposit & Pick<Deposit, 'invoiceId'>;

export type OwnedPayment = { payment: Payment; owner: OurAddress; block: Block };

export function paymentsTo(ours: ReadonlyMap<string, OurAddress>, block: Block): OwnedPayment[] {
  return block.payments.flatMap((payment): OwnedPayment[] => {
    const owner = ours.get(payment.address);
    return owner === undefined || payment.amount <= 0n ? [] : [{ payment, owner, block }];
  });
}

export const addressesIn = (blocks: readonly Block[]): string[] => [
  ...new Set(
    blocks.flatMap(({ payments, spends }) => [...payments, ...spends].map(({ address }) => address)),
  ),
];

/**
 * Records payments to our addresses as deposits: new ones, and dropped ones that are in a block again.
 * @returns payments that contradict a deposit in the chain
 */
export async function recordPayments(
  trx: Trx,
  chain: Chain,
  paid: readonly (Omit<OwnedPayment, 'block'> & { block: KnownBlock })[],
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
): Promise<Contradiction[]> {
  if (paid.length === 0) return [];
  const now = clock.now();
  const outpoints = paid.map(({ payment }) => payment.outpoint);
  const known = new Map<string, Known[]>(await depositsByOutpoint(trx, chain, outpoints));
  const sighted = await endMempoolPayments(trx, chain, outpoints);
  const fresh: NewDeposit[] = [];
  const returned: ReturnedDeposit[] = [];
  const contradicted: Contradiction[] = [];
  for (const { payment, owner, block } of paid) {
    const { outpoint, asset, address, amount, txHash, outputIndex } = payment;
    const { invoiceId, derivationIndex } = owner;
    const place = { blockHeight: block.height, blockHash: block.hash };
    // The earlier of the block's time and the first sight in the mempool: neither clock alone makes a customer late.
    const seenAt = earlier(block.time, sighted.get(outpoint) ?? now);
    const mined: BlockPayment = { outpoint, asset, address, amount, ...place, seenAt };
    const alike = known.get(outpoint) ?? [];
    const found = matchDeposit(mined, alike);
    switch (found.as) {
      case 'known':
        break;
      case 'returned':
        returned.push({ id: found.deposit, state: found.state, ...place, firstSeenAt: found.firstSeenAt });
        known.set(
          outpoint,
          alike.map((one) => (one.id === found.deposit ? { ...one, ...place, state: found.state } : one)),
        );
        break;
      case 'contradicted': {
        const other = alike.find(({ id }) => id === found.deposit);
        const held = { depositId: found.deposit, invoiceId: other?.invoiceId ?? invoiceId };
        contradicted.push({ ...place, outpoint, ...held });
        break;
      }
      case 'new': {
        const { firstSeenAt } = found;
        const one = {
          id: newDepositId(now, random),
          outpoint,
          invoiceId,
          asset,
          address,
          amount,
          ...place,
          firstSeenAt,
        };
        const minConfirmations = Math.max(owner.minConfirmations, payment.confirmationsMin ?? 0);
        fresh.push({ ...one, derivationIndex, txHash, outputIndex, minConfirmations });
        // A node may list a payment twice in one answer.
        known.set(outpoint, [...alike, { ...one, state: 'seen' }]);
        break;
      }
    }
  }
  await returnDeposits(trx, returned);
  await insertDeposits(trx, chain, fresh);
  await saveContradictions(trx, chain, contradicted, now);
  return contradicted;
}

export const spendsFrom = (ours: ReadonlyMap<string, OurAddress>, blocks: readonly Block[]) =>
  blocks.flatMap(({ height, hash, spends }) =>
    spends.filter(({ address }) => ours.has(address)).map((spend) => ({ ...spend, height, hash })),
  );

/**
 * Records native money that left our addresses, each transfer once.
 * @returns transfers that another block already has
 */
export async function recordSpends(
  trx: Trx,
  chain: Chain,
  spends: ReturnType<typeof spendsFrom>,
  { clock }: Pick<Ports, 'clock'>,
): Promise<Contradiction[]> {
  const key = ({ txHash, address }: { txHash: string; address: string }) => `${txHash}:${address}`;
  const written = new Set((await saveSpends(trx, chain, spends)).map(key));
  const contradicted = spends
    .filter((spend) => !written.has(key(spend)))
    .map((spend) => ({
      blockHash: spend.hash,
      blockHeight: spend.height,
      outpoint: key(spend),
      depositId: null,
      invoiceId: null,
    }));
  await saveContradictions(trx, chain, contradicted, clock.now());
  return contradicted;
}

export function logContradictions(
  { logger }: Pick<Ports, 'logger'>,
  chain: Chain,
  contradicted: readonly Contradiction[],
  message = 'the node contradicts itself about a payment: the payment counts once and is held, and the node is asked again every minute',
): void {
  for (const { outpoint: payment, blockHeight: height, blockHash: block, ...ids } of contradicted) {
    const { depositId: deposit, invoiceId: invoice } = ids;
    logger.error({ chain, payment, height, block, deposit, invoice }, message);
  }
}
