import type { Block, ChainReader } from '@quittance/chains/chain';
import type { Chain } from '@quittance/shared/assets';
import type { Queryable } from '@quittance/shared/db';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { type Deposit, type PaymentReport, resolveContradiction } from '../domain/deposit.ts';
import type { WatchedChain } from '../ports.ts';
import {
  type Contradiction,
  claimContradiction,
  dropDeposit,
  endContradiction,
} from '../store/contradictions.ts';
import { type Cursor, findCursor, knownBlocksBetween, lockCursor } from '../store/cursors.ts';
import { depositsByOutpoint } from '../store/deposits.ts';
import { lockInvoices } from '../store/invoices.ts';
import type { BlockPorts } from './apply-blocks.ts';
import { recomputeInvoices } from './recompute-invoices.ts';
import { logContradictions } from './record-payments.ts';
import { recordMissedPayments } from './rescan-chain.ts';

const AGAIN_MS = 60_000;

/**
 * Reads both blocks of a contradicted payment again, by the holder of the lease when the chain is synced. When the
 * node now has the payment once, that answer holds: the deposit is released or moves to the other block, whose missed
 * payments are recorded. Otherwise the deposit stays held, and the blocks are read again in a minute.
 * @returns how many contradictions ended
 */
export async function resolveContradictions(
  ports: BlockPorts,
  watched: WatchedChain,
  lease: Lease,
): Promise<number> {
  const { db, clock, logger } = ports;
  const { chain, reader } = watched;
  const found = await claimContradiction(db, chain, clock.now(), AGAIN_MS);
  const cursor = found && (await findCursor(db, chain));
  if (found === undefined || cursor === undefined) return 0;
  const known = await depositsByOutpoint(db, chain, [found.outpoint]);
  const deposit = known.get(found.outpoint)?.find(({ id }) => id === found.depositId);
  const both = await readBoth(reader, found, deposit);
  // The node is on another branch: the scanner handles that first.
  if ((await reader.hashAt(cursor.height)) !== cursor.hash) return 0;
  if (both === undefined && (await isInChain(db, chain, found, cursor))) {
    logContradictions(
      ports,
      chain,
      [found],
      'the node lacks a block of a contradicted payment: it is asked again every minute',
    );
    return 0;
  }
  const outcome = both === undefined ? 'reorganised' : resolutionOf(deposit, both.reports);
  if (outcome === 'unresolved') {
    logContradictions(ports, chain, [found]);
    return 0;
  }
  return await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    if ((await lockCursor(trx, chain)).hash !== cursor.hash) return 0;
    const invoices = found.invoiceId === null ? [] : [found.invoiceId];
    await lockInvoices(trx, invoices);
    await endContradiction(trx, chain, found, outcome, clock.now());
    if (deposit !== undefined && outcome === 'later')
      await dropDeposit(trx, deposit.id, cursor.height, clock.now());
    if (both !== undefined) await recordMissedPayments(trx, ports, watched, [both.later]);
    await recomputeInvoices(trx, invoices, ports);
    const { outpoint: payment, depositId, invoiceId: invoice } = found;
    logger.warn(
      { chain, payment, deposit: depositId, invoice, stands: outcome },
      'the contradiction about a payment has ended: the payment is no longer held',
    );
    return 1;
  });
}

/** Undefined when the node lacks one of the two blocks. */
async function readBoth(
  reader: ChainReader,
  { blockHash, blockHeight }: Contradiction,
  deposit: Deposit | undefined,
): Promise<{ later: Block; reports: PaymentReport[] } | undefined> {
  const later = await reader.block(blockHeight);
  if (later === undefined || later.hash !== blockHash) return undefined;
  if (deposit === undefined) return { later, reports: [] };
  const earlier = deposit.blockHash === blockHash ? later : await reader.block(deposit.blockHeight);
  if (earlier === undefined || earlier.hash !== deposit.blockHash) return undefined;
  const reports = [earlier, later].flatMap(({ hash, payments }) =>
    payments.map((payment) => ({ ...payment, blockHash: hash })),
  );
  return { later, reports };
}

/** A transfer out of an address counts once, whichever of the two blocks has it. */
const resolutionOf = (deposit: Deposit | undefined, reports: readonly PaymentReport[]) =>
  deposit === undefined ? 'earlier' : resolveContradiction(deposit, reports);

/** Whether the block is in the applied chain. A block that is no longer stored counts as in it. */
async function isInChain(
  db: Queryable,
  chain: Chain,
  { blockHash, blockHeight }: Contradiction,
  cursor: Cursor,
): Promise<boolean> {
  const { blocks, lowest } = await knownBlocksBetween(db, chain, blockHeight, blockHeight);
  const isRemembered = lowest !== null && blockHeight >= lowest && blockHeight <= cursor.height;
  return !isRemembered || blocks.some(({ hash }) => hash === blockHash);
}
