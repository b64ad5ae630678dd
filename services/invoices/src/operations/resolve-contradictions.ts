import type { Block, ChainReader } from '@quittance/chains/chain';
import type { Chain } from '@quittance/shared/assets';
import type { Queryable, Trx } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { type PaymentReport, type Resolution, resolveContradiction } from '../domain/contradiction.ts';
import type { Deposit } from '../domain/deposit.ts';
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
import { recomputeInvoices } from './recompute-invoices.ts';
import { logContradictions } from './record-payments.ts';
import { type RescanPorts, recordMissedPayments } from './rescan-chain.ts';

const AGAIN_MS = 60_000;

type Both = { deposit: Deposit | undefined; later: Block; reports: PaymentReport[] };

/**
 * Reads both blocks of a contradicted payment again, by the holder of the lease when the chain is synced. When the
 * node now has the payment once, that answer holds: the deposit is released or moves to the other block, whose missed
 * payments are recorded. Otherwise the deposit stays held, and the blocks are read again in a minute.
 * @returns how many contradictions ended
 */
export async function resolveContradictions(
  ports: RescanPorts,
  watched: WatchedChain,
  lease: Lease,
): Promise<number> {
  const { db, clock } = ports;
  const { chain, reader } = watched;
  const found = await claimContradiction(db, chain, clock.now(), AGAIN_MS);
  const cursor = found && (await findCursor(db, chain));
  if (found === undefined || cursor === undefined) return 0;
  const known = await depositsByOutpoint(db, chain, [found.outpoint]);
  const deposit = known.get(found.outpoint)?.find(({ id }) => id === found.deposit?.id);
  const both = await readBoth(reader, found, deposit);
  // The node is on another branch: the scanner handles that first.
  if ((await reader.hashAt(cursor.height)) !== cursor.hash) return 0;
  if (both === undefined && !(await isInChain(db, chain, found, cursor))) {
    return await db.transaction(async (trx) => {
      await assertLease(trx, lease);
      if ((await lockCursor(trx, chain)).hash !== cursor.hash) return 0;
      await end(trx, ports, watched, { found, outcome: 'reorganised' });
      return 1;
    });
  }
  if (both === undefined) {
    const { outpoint: payment, blockHeight: height, blockHash: block } = found;
    ports.logger.error(
      { chain, payment, height, block, deposit: found.deposit?.id, invoice: found.deposit?.invoiceId },
      'the node lacks a block of a contradicted payment: it is asked again every minute',
    );
    return 0;
  }
  const resolution = resolutionOf(both);
  if (resolution === 'unresolved') {
    logContradictions(ports, chain, [found]);
    return 0;
  }
  return await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    if ((await lockCursor(trx, chain)).hash !== cursor.hash) return 0;
    await settle(trx, ports, watched, { found, both, cursor, resolution });
    return 1;
  });
}

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

/** Undefined when the node lacks one of the two blocks. */
async function readBoth(
  reader: ChainReader,
  { blockHash, blockHeight, outpoint }: Contradiction,
  deposit: Deposit | undefined,
): Promise<Both | undefined> {
  const later = await reader.block(blockHeight);
  if (later === undefined || later.hash !== blockHash) return undefined;
  if (deposit === undefined) return { deposit, later, reports: [] };
  const earlier = deposit.blockHash === blockHash ? later : await reader.block(deposit.blockHeight);
  if (earlier === undefined || earlier.hash !== deposit.blockHash) return undefined;
  const reports = [earlier, later].flatMap(({ hash, payments }) =>
    payments
      .filter((payment) => payment.outpoint === outpoint)
      .map((payment) => ({ ...payment, blockHash: hash })),
  );
  return { deposit, later, reports };
}

/** A transfer out of an address counts once, whichever of the two blocks has it. */
const resolutionOf = ({ deposit, reports }: Both): Resolution =>
  deposit === undefined ? 'earlier' : resolveContradiction(deposit, reports);

type Settling = {
  found: Contradiction;
  both: Both;
  cursor: Cursor;
  resolution: Exclude<Resolution, 'unresolved'>;
};

async function settle(
  trx: Trx,
  ports: RescanPorts,
  watched: WatchedChain,
  { found, both, cursor, resolution }: Settling,
): Promise<void> {
  const { deposit, later } = both;
  await end(trx, ports, watched, { found, outcome: resolution }, async () => {
    if (deposit !== undefined && resolution === 'later')
      await dropDeposit(trx, deposit.id, cursor.height, ports.clock.now());
    await recordMissedPayments(trx, ports, watched, [later]);
  });
}

type Ending = { found: Contradiction; outcome: Parameters<typeof endContradiction>[3] };

async function end(
  trx: Trx,
  ports: RescanPorts,
  { chain }: WatchedChain,
  { found, outcome }: Ending,
  change: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { clock, logger } = ports;
  const { outpoint: payment, deposit } = found;
  const invoices: InvoiceId[] = deposit === null ? [] : [deposit.invoiceId];
  await lockInvoices(trx, invoices);
  await endContradiction(trx, chain, found, outcome, clock.now());
  await change();
  await recomputeInvoices(trx, invoices, ports);
  logger.warn(
    { chain, payment, deposit: deposit?.id, invoice: deposit?.invoiceId, stands: outcome },
    'the contradiction about a payment has ended: the payment is no longer held',
  );
}
