import type { Block, Payment } from '@quittance/chains/chain';
import type { Chain } from '@quittance/shared/assets';
import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import { type InvoiceId, newDepositId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { invariant } from '@quittance/shared/result';
import { type Deposit, earlier, type Mined, recognise } from '../domain/deposit.ts';
import type { Ports, WatchedChain } from '../ports.ts';
import { lockInvoices } from '../store.ts';
import {
  dropBlocks,
  forgetBlocksBelow,
  type KnownBlock,
  lockCursor,
  moveCursor,
  type OurAddress,
  ourAddresses,
  recordSpends,
  rememberBlocks,
} from '../store-chain.ts';
import {
  type Contradiction,
  contradictedAbove,
  endContradictionsAbove,
  saveContradictions,
} from '../store-contradictions.ts';
import {
  depositsByOutpoint,
  dropDeposits,
  insertDeposits,
  invoicesAbove,
  invoicesDue,
  type NewDeposit,
  returnDeposits,
} from '../store-deposits.ts';
import { endSightings } from '../store-sightings.ts';
import type { Shown } from '../views.ts';
import { bringUpToDate } from './bring-up-to-date.ts';

/** Deeper than any reorganisation that is not an attack; what is deeper stops the scanner. */
export const BLOCKS_REMEMBERED = 1_000;

export type Move = {
  watched: Pick<WatchedChain, 'chain' | 'filter'>;
  lease: Lease;
  /** Where the chain was followed to. */
  from: KnownBlock;
  /** The last block that stays; the same as `from` when the chain only grew. */
  base: KnownBlock;
  /** The blocks that follow it, at least one. */
  blocks: readonly Block[];
};

export type MovingPorts = Pick<Ports, 'db' | 'clock' | 'random' | 'logger'> & Shown;

/**
 * Follows the chain one step in one transaction: the blocks after `base` leave, the new ones come, and every
 * invoice that feels it is brought up to date. A payment that only moved to another block never looks lost.
 */
export async function moveChain(ports: MovingPorts, move: Move): Promise<void> {
  const { watched, from, base, blocks } = move;
  const { chain } = watched;
  const tip = blocks.at(-1);
  invariant(tip !== undefined, 'a chain moves by blocks');
  invariant(isLinked(base, blocks), 'the new blocks follow each other');
  const contradicted = await ports.db.transaction(async (trx) => {
    await assertLease(trx, move.lease);
    const cursor = await lockCursor(trx, chain);
    invariant(cursor.hash === from.hash, 'only the holder of the lease moves the cursor');

    const ours = await ourAddresses(trx, watched, mentioned(blocks));
    const paid = blocks.flatMap((block) => paymentsTo(ours, block));
    const left =
      base.height < from.height
        ? [
            ...(await invoicesAbove(trx, chain, base.height)),
            ...(await contradictedAbove(trx, chain, base.height)),
          ]
        : [];
    // What was due before and is left is settled beside the chain: thousands of deposits hold up no block.
    const due = await invoicesDue(trx, chain, base.height, tip.height);
    const touched = new Set<InvoiceId>([...left, ...due, ...paid.map(({ owner }) => owner.invoiceId)]);
    await lockInvoices(trx, touched);

    if (base.height < from.height) {
      await endContradictionsAbove(trx, chain, base.height, ports.clock.now());
      await dropDeposits(trx, chain, base.height, from.height);
      await dropBlocks(trx, chain, base.height);
      crashPoint('invoices.branch_dropped');
    }
    const told = await takeIn(trx, chain, paid, ports);
    if (paid.length > 0) crashPoint('invoices.deposits_written');
    told.push(...(await takeSpends(trx, chain, spendsFrom(ours, blocks), ports)));
    await rememberBlocks(trx, chain, blocks);
    await forgetBlocksBelow(trx, chain, tip.height - BLOCKS_REMEMBERED);
    await moveCursor(trx, chain, tip);
    await bringUpToDate(trx, [...touched, ...told.flatMap(({ deposit }) => deposit?.invoiceId ?? [])], ports);
    crashPoint('invoices.block_written');
    return told;
  });
  crashPoint('invoices.block_committed');
  tellContradictions(ports, chain, contradicted);
}

export function tellContradictions(
  { logger }: Pick<Ports, 'logger'>,
  chain: Chain,
  contradicted: readonly Contradiction[],
): void {
  for (const { outpoint, blockHeight: height, blockHash: block, deposit } of contradicted) {
    logger.error(
      { chain, payment: outpoint, height, block, deposit: deposit?.id, invoice: deposit?.invoiceId },
      'the node told a payment twice: it is counted once and held back, and the node is asked again every minute',
    );
  }
}

export function isLinked(base: KnownBlock, blocks: readonly Block[]): boolean {
  return blocks.every((block, i) => {
    const before = blocks[i - 1] ?? base;
    // On Solana, where heights are slots, some have no block.
    return block.parentHash === before.hash && block.height > before.height;
  });
}

export const mentioned = (blocks: readonly Block[]): string[] => [
  ...new Set(
    blocks.flatMap(({ payments, spends }) => [...payments, ...spends].map(({ address }) => address)),
  ),
];

type Known = Pick<
  Deposit,
  'id' | 'invoiceId' | 'outpoint' | 'asset' | 'address' | 'amount' | 'state' | 'firstSeenAt' | 'blockHash'
>;

export type Paid = { payment: Payment; owner: OurAddress; block: Block };

export function paymentsTo(ours: ReadonlyMap<string, OurAddress>, block: Block): Paid[] {
  return block.payments.flatMap((payment): Paid[] => {
    const owner = ours.get(payment.address);
    return owner === undefined || payment.amount <= 0n ? [] : [{ payment, owner, block }];
  });
}

const spendsFrom = (ours: ReadonlyMap<string, OurAddress>, blocks: readonly Block[]) =>
  blocks.flatMap(({ height, hash, spends }) =>
    spends.filter(({ address }) => ours.has(address)).map((spend) => ({ ...spend, height, hash })),
  );

/** Writes down what left our addresses, each once. @returns what had been told of another block */
async function takeSpends(
  trx: Trx,
  chain: Chain,
  spends: ReturnType<typeof spendsFrom>,
  { clock }: Pick<Ports, 'clock'>,
): Promise<Contradiction[]> {
  const key = ({ txHash, address }: { txHash: string; address: string }) => `${txHash}:${address}`;
  const written = new Set((await recordSpends(trx, chain, spends)).map(key));
  const contradicted = spends
    .filter((spend) => !written.has(key(spend)))
    .map((spend) => ({
      blockHash: spend.hash,
      blockHeight: spend.height,
      outpoint: key(spend),
      deposit: null,
    }));
  await saveContradictions(trx, chain, contradicted, clock.now());
  return contradicted;
}

/**
 * Writes payments to our addresses down as deposits: new ones, and those that come back.
 * @returns those that are in the chain already, otherwise than they are told now
 */
export async function takeIn(
  trx: Trx,
  chain: Chain,
  paid: readonly (Omit<Paid, 'block'> & { block: KnownBlock })[],
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
): Promise<Contradiction[]> {
  if (paid.length === 0) return [];
  const now = clock.now();
  const outpoints = paid.map(({ payment }) => payment.outpoint);
  const known = new Map<string, Known[]>(await depositsByOutpoint(trx, chain, outpoints));
  const sighted = await endSightings(trx, chain, outpoints);
  const fresh: NewDeposit[] = [];
  const returned: Parameters<typeof returnDeposits>[1][number][] = [];
  const contradicted: Contradiction[] = [];
  for (const { payment, owner, block } of paid) {
    const { outpoint, asset, address, amount } = payment;
    const place = { blockHeight: block.height, blockHash: block.hash };
    // The earlier of its block's time and our sighting of it: neither clock alone makes a customer late.
    const seenAt = earlier(block.time, sighted.get(outpoint) ?? now);
    const mined: Mined = { outpoint, asset, address, amount, ...place, seenAt };
    const alike = known.get(outpoint) ?? [];
    const found = recognise(mined, alike);
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
        const invoiceId = alike.find(({ id }) => id === found.deposit)?.invoiceId ?? owner.invoiceId;
        contradicted.push({ ...place, outpoint, deposit: { id: found.deposit, invoiceId } });
        break;
      }
      case 'new': {
        const id = newDepositId(now, random);
        fresh.push({
          id,
          outpoint,
          invoiceId: owner.invoiceId,
          asset,
          address,
          derivationIndex: owner.derivationIndex,
          amount,
          txHash: payment.txHash,
          outputIndex: payment.outputIndex,
          ...place,
          firstSeenAt: found.firstSeenAt,
          minConfirmations: Math.max(owner.minConfirmations, payment.confirmationsMin ?? 0),
        });
        // A node may tell a payment twice in one answer.
        known.set(outpoint, [
          ...alike,
          { ...mined, ...found, id, invoiceId: owner.invoiceId, state: 'seen' },
        ]);
        break;
      }
    }
  }
  await returnDeposits(trx, returned);
  await insertDeposits(trx, chain, fresh);
  await saveContradictions(trx, chain, contradicted, now);
  return contradicted;
}
