import type { BalanceReader } from '@quittance/chains/chain';
import { RpcRefused } from '@quittance/chains/json-rpc';
import { type Chain, nativeAsset } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { type Movement, nextBalanceCheck, unexplained } from '../domain/balance.ts';
import { isInBlock } from '../domain/deposit.ts';
import type { WatchedChain } from '../ports.ts';
import {
  type BalanceCheck,
  balancesBlockingExpiry,
  balancesCheckedAt,
  balancesDue,
  markBalancesChecked,
  nativeMovements,
  saveBalanceChecks,
  type WatchedAddress,
} from '../store/balance-checks.ts';
import { type Cursor, findBlock, findCursor, type KnownBlock, lockCursor } from '../store/cursors.ts';
import { depositsByOutpoint } from '../store/deposits.ts';
import { lockInvoices } from '../store/invoices.ts';
import type { BlockPorts } from './apply-blocks.ts';
import { recomputeInvoices } from './recompute-invoices.ts';
import { recordPayments } from './record-payments.ts';

/** Addresses per step. With more open invoices, each address waits for its turn. */
const BATCH = 250;
const nothing = 0n as Units;

type Watching = {
  ports: BlockPorts;
  watched: WatchedChain;
  node: BalanceReader;
  lease: Lease;
  cursor: Cursor;
};
/**
 * Undefined: only the newest block has that balance. Some nodes, while they take a block, answer for the one before it with
 * the balance of the next. It is looked at again when there is a next one.
 */
type Explained = { look: BalanceCheck } | { excess: Units; before: Units } | undefined;

/**
 * Finds native money that contracts send: it leaves no log and no matching recipient in a block, only a balance.
 * Checks the addresses of open and recently closed invoices, and those that a rescan requests. An excess over the
 * known payments is recorded as a deposit in the block that brought it.
 * @returns the amount of work done; 0 when nothing is left to check before the next block
 */
export async function checkBalances(ports: BlockPorts, watched: WatchedChain, lease: Lease): Promise<number> {
  const { chain, reader } = watched;
  const { balances: node } = reader;
  if (node === undefined) return 0;
  const cursor = await findCursor(ports.db, chain);
  if (cursor === undefined) return 0;
  const { addresses, isAll } = await dueAddresses(ports, chain, cursor);
  if (addresses.length === 0 && !isAll) return 0;

  const movements = await nativeMovements(ports.db, chain, nativeAsset[chain], addresses);
  const names = addresses.map(({ address }) => address);
  const balances = await node.balancesAt(names, cursor.height);
  // Nodes answer balances by height. They count only if our block is still at that height.
  if ((await reader.hashAt(cursor.height)) !== cursor.hash) return 0;

  const watching = { ports, watched, node, lease, cursor };
  const looks: BalanceCheck[] = [];
  let found = 0;
  for (const address of addresses) {
    const balance = balances.get(address.address);
    invariant(balance !== undefined, 'the node returns a balance for each address');
    const known = movements.get(address.address) ?? [];
    const explained = await explain(watching, address, balance, known);
    if (explained === undefined) continue;
    if ('look' in explained) looks.push(explained.look);
    else if (await recordExcess(watching, address, explained.before, known)) found += 1;
  }
  await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await saveBalanceChecks(trx, chain, looks);
    if (isAll && looks.length === addresses.length) await markBalancesChecked(trx, chain, cursor.height);
  });
  return isAll ? found : found + looks.length;
}

/**
 * The addresses to check: those that are due at a new block, and without one only those whose invoices wait to
 * expire. `isAll`: no other address is due before the next block.
 */
async function dueAddresses(
  { db, clock }: Pick<BlockPorts, 'db' | 'clock'>,
  chain: Chain,
  cursor: Cursor,
): Promise<{ addresses: WatchedAddress[]; isAll: boolean }> {
  const blocking = await balancesBlockingExpiry(db, chain, cursor.knownUntil, BATCH);
  if (blocking.length > 0) return { addresses: blocking, isAll: false };
  if ((await balancesCheckedAt(db, chain)) === cursor.height) return { addresses: [], isAll: false };
  const due = await balancesDue(db, chain, cursor.height, clock.now(), BATCH);
  return { addresses: due, isAll: due.length < BATCH };
}

async function explain(
  watching: Watching,
  address: WatchedAddress,
  balance: Units,
  known: readonly Movement[],
): Promise<Explained> {
  const { ports, watched, cursor } = watching;
  const { chain } = watched;
  // A token payment shows in its block. One check stores the balance from before the invoice, while the node still
  // has that state. Further checks are for an operator to request.
  const isAwaited = address.asset === nativeAsset[chain];
  const nextAt = isAwaited ? nextBalanceCheck(address, ports.clock.now()) : null;
  const look = (before: Units | null): Explained => ({
    look: { address: address.address, height: cursor.height, knownUntil: cursor.knownUntil, before, nextAt },
  });
  const excess = unexplained(balance, address.balanceBefore ?? nothing, known, cursor.height);
  if (excess === 0n) return look(address.balanceBefore ?? nothing);
  // Money from before the address was given out belongs to no invoice: an earlier installation may have used the
  // keys.
  if (address.balanceBefore === null && address.givenHeight === cursor.height) return undefined;
  const before = address.balanceBefore ?? (await balanceBefore(watching, address, known));
  if (before === undefined) {
    ports.logger.warn(
      { chain, address: address.address, amount: excess.toString() },
      'an address holds money that may be older than its invoice: run a rescan with an archive node to find out',
    );
    // From now on the whole balance counts as having been there before. For a token invoice, a rescan with an archive
    // node can still find the amount.
    return look(nextAt === null ? null : excess);
  }
  const rest = unexplained(balance, before, known, cursor.height);
  if (rest !== 0n && (await isOfNewestBlock(watching, address.address, before, known, rest)))
    return undefined;
  if (rest > 0n) return { excess: rest, before };
  if (rest < 0n) {
    ports.logger.error(
      { chain, address: address.address, missing: (-rest).toString() },
      'an address holds less than its known payments: money left it in an unknown transfer',
    );
  }
  return look((before + rest) as Units);
}

/**
 * Whether what is unexplained is so in the newest block alone. Not known where the node has pruned the state before it: then
 * it counts.
 */
async function isOfNewestBlock(
  watching: Watching,
  address: string,
  before: Units,
  known: readonly Movement[],
  rest: Units,
): Promise<boolean> {
  const height = watching.cursor.height - 1;
  const balance = await balanceAt(watching, address, height);
  if (balance === undefined) return false;
  const earlier = unexplained(balance, before, known, height);
  return rest > 0n ? earlier <= 0n : earlier >= 0n;
}

/** The balance when the address was given out. Undefined when the node has pruned that state. */
async function balanceBefore(
  watching: Watching,
  { address, givenHeight }: WatchedAddress,
  known: readonly Movement[],
): Promise<Units | undefined> {
  if (givenHeight === null) return undefined;
  const balance = await balanceAt(watching, address, givenHeight);
  return balance && unexplained(balance, nothing, known, givenHeight);
}

/** Undefined when the node answers but has pruned that state. */
async function balanceAt(
  { ports, watched: { reader, chain }, node }: Watching,
  address: string,
  height: number,
): Promise<Units | undefined> {
  try {
    return (await node.balancesAt([address], height)).get(address);
  } catch (error) {
    // Only a node that answers and refuses has pruned the state.
    if (!(error instanceof RpcRefused)) throw error;
    await reader.head();
    ports.logger.warn(
      { chain, height, reason: reason(error) },
      'the node has pruned the state of this height',
    );
    return undefined;
  }
}

/** Finds the block that brought the first unexplained amount, and records it. */
async function recordExcess(
  watching: Watching,
  address: WatchedAddress,
  before: Units,
  known: readonly Movement[],
): Promise<boolean> {
  const { ports, watched, lease, cursor } = watching;
  const { chain } = watched;
  const arrival = await firstArrival(watching, address, before, known);
  if (arrival === undefined) return false;
  const block = await blockAt(watching, arrival.height);
  if (block === undefined) return false;
  const txHash = await watching.node.internalSource(address.address, block.hash);
  failpoint('invoices.balance_checked');
  const outpointIn = ({ hash }: KnownBlock) => `${hash}:${address.address}`;
  const isRecorded = await ports.db.transaction(async (trx) => {
    await assertLease(trx, lease);
    invariant(
      (await lockCursor(trx, chain)).hash === cursor.hash,
      'only the holder of the lease changes the cursor',
    );
    await lockInvoices(trx, [address.invoiceId]);
    // The node may have reported a lower balance of that block before, and a deposit under its name exists. Then the
    // rest is recorded in the newest block: late is better than twice.
    const blocks = block.hash === cursor.hash ? [cursor] : [block, cursor];
    const known = await depositsByOutpoint(trx, chain, blocks.map(outpointIn));
    const free = blocks.find((one) => !(known.get(outpointIn(one)) ?? []).some(isInBlock));
    if (free === undefined) return false;
    const payment = {
      outpoint: outpointIn(free),
      txHash: free === block ? txHash : null,
      outputIndex: 0,
      asset: nativeAsset[chain],
      address: address.address,
      amount: arrival.amount,
    };
    await recordPayments(trx, chain, [{ payment, owner: address, block: free }], ports);
    await recomputeInvoices(trx, [address.invoiceId], ports);
    return true;
  });
  failpoint('invoices.balance_recorded');
  if (!isRecorded) {
    ports.logger.warn(
      { chain, address: address.address, amount: arrival.amount.toString() },
      'the node reports a higher balance than before: the difference is recorded with the next block',
    );
  }
  return isRecorded;
}

/**
 * Binary search for the first block after which the balance exceeds the known payments; the excess only grows. A
 * pruned state counts as before that block, so that the result is late rather than early.
 */
async function firstArrival(
  watching: Watching,
  { address, balanceHeight, givenHeight }: WatchedAddress,
  before: Units,
  known: readonly Movement[],
): Promise<{ height: number; amount: Units } | undefined> {
  const excessAt = async (height: number): Promise<Units> => {
    const balance = await balanceAt(watching, address, height);
    return balance === undefined ? nothing : unexplained(balance, before, known, height);
  };
  let high = watching.cursor.height;
  let amount = await excessAt(high);
  // The excess has vanished: the chain was reorganised, or another node answered.
  if (amount <= 0n) return undefined;
  const total = amount;
  let low = Math.min(balanceHeight ?? givenHeight ?? 0, high - 1);
  // A reorganisation may have moved the payment below the last checked height.
  if (low > 0 && (await excessAt(low)) > 0n) low = Math.min(givenHeight ?? 0, low);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    const there = await excessAt(middle);
    if (there > 0n) {
      high = middle;
      amount = there;
    } else low = middle;
  }
  // Never more than today's excess: an earlier deposit that was recorded too late leaves its own block unexplained.
  if (amount > total) amount = total;
  return { height: high, amount };
}

async function blockAt(
  { ports: { db }, watched: { chain, reader }, cursor }: Watching,
  height: number,
): Promise<KnownBlock | undefined> {
  const known = height === cursor.height ? cursor : await findBlock(db, chain, height);
  return known ?? (await reader.block(height));
}
