import type { TransactionStatus } from '@quittance/chains/chain';
import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import type { Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { assertNever, invariant } from '@quittance/shared/result';
import pMap from 'p-map';
import { judge } from '../../domain/bitcoin/next-step.ts';
import type { BitcoinPorts } from '../../ports.ts';
import { openFamilies } from '../../store/replacement-groups.ts';
import { type Family, newestOf, type Transaction } from '../../store/transaction-rows.ts';
import { noteBlock, noteDoubt } from '../../store/transactions.ts';
import { noteChange, settleCoins } from '../../store/utxos.ts';
import { keepLease } from '../keep-lease.ts';
import { sendTransaction } from '../send-transaction.ts';
import { settleTransaction } from '../settle-transaction.ts';
import { bumpFamily } from './bump-group.ts';
import { buryConflicted } from './invalidate-conflicted.ts';
import { readTerms } from './terms.ts';

const OPEN_AT_ONCE = 200;
const CONCURRENT_LOOKS = 8;
/** A node that is silent so often is asked no more in this round: each silence costs a time limit. */
const SILENCES_MAX = 8;

/** What the chain tells of each attempt, in their order. */
type Look = { of: Transaction; seen: TransactionStatus }[];

/**
 * Asks the chain what has become of everything signed whose end is open, sends again what is nowhere, and asks for a
 * higher fee where one is needed.
 * @returns how many came to their end.
 */
export async function followFamilies(ports: BitcoinPorts, lease: Lease): Promise<number> {
  const { db, chain, sender } = ports;
  const open = await openFamilies(db, chain, sender.hotAddress, OPEN_AT_ONCE);
  let silences = 0;
  await keepLease(ports, lease);
  const looks = await pMap(
    open,
    async (family) => {
      const look = silences < SILENCES_MAX ? await lookOrSay(ports, family) : undefined;
      if (look === undefined) silences += 1;
      return look && { family, look };
    },
    { concurrency: CONCURRENT_LOOKS },
  );
  await keepLease(ports, lease);
  let ended = 0;
  for (const seen of looks) if (seen && (await follow(ports, lease, seen.family, seen.look))) ended += 1;
  return ended;
}

/** One family that the node will not talk about does not hold up the others. */
async function lookOrSay({ sender, notices }: BitcoinPorts, family: Family): Promise<Look | undefined> {
  try {
    return await Promise.all(family.map(async (of) => ({ of, seen: await sender.status(of.txHash) })));
  } catch (error) {
    const said = { transaction: family[0].txHash, reason: reason(error) };
    notices.say('warn', `look.${family[0].id}`, said, 'the node does not tell of a transaction');
    return undefined;
  }
}

/** Whether it came to its end. */
async function follow(ports: BitcoinPorts, lease: Lease, family: Family, look: Look): Promise<boolean> {
  const { clock, settings } = ports;
  const [{ minConfirmations }] = family;
  const attempts = look.map(({ of, seen }) => ({ seen, ...of }));
  const verdict = judge({ minConfirmations, attempts }, clock.now(), settings.patience);
  await rememberBlock(ports, look);
  switch (verdict.is) {
    case 'settled':
      return settle(ports, lease, look[verdict.attempt]);
    case 'in_block':
    case 'sent':
      return false;
    case 'to_replace':
      await sendTransaction(ports, newestOf(family));
      await believe(ports, family);
      return false;
    case 'waiting':
      await believe(ports, family);
      // A higher fee is another signature.
      if (ports.assets.includes('BTC')) {
        await bumpFamily(ports, lease, family, family[verdict.attempt] as Transaction);
      }
      return false;
    case 'to_send':
      // The oldest first: whatever it is that the node refuses about a later one, one of them is on its way.
      for (const attempt of family) await sendTransaction(ports, attempt);
      return buryConflicted(ports, lease, family);
    default:
      return assertNever(verdict);
  }
}

async function settle(ports: BitcoinPorts, lease: Lease, look: Look[number] | undefined): Promise<boolean> {
  invariant(look?.seen.state === 'mined', 'what is settled is mined');
  const { of, seen } = look;
  return settleTransaction(ports, lease, of, seen, (trx) => settleMined(trx, of));
}

/** The change of the attempt that is in a block may be spent from then on, until that block is dropped. */
async function rememberBlock({ db, logger }: BitcoinPorts, look: Look): Promise<void> {
  const changed: Look = [];
  let minedTxHash: string | null = null;
  for (const { of, seen } of look) {
    const block = seen.state === 'mined' ? seen : null;
    if (block !== null) minedTxHash = of.txHash;
    if ((block?.blockHash ?? null) === of.blockHash) continue;
    changed.push({ of, seen });
    if (block === null) {
      logger.warn(
        { transaction: of.txHash, block: of.blockHash },
        'a block was dropped, sending the same bytes again',
      );
    }
  }
  const [first] = changed;
  if (first === undefined) return;
  await db.transaction(async (trx) => {
    for (const { of, seen } of changed) await noteBlock(trx, of.id, seen.state === 'mined' ? seen : null);
    await noteChange(trx, first.of.family, minedTxHash);
  });
  crashPoint('bitcoin.block_noted');
}

/** What waits in the pool contradicts nothing in the chain. */
async function believe({ db }: BitcoinPorts, [first]: Family): Promise<void> {
  if (first.doubtedAt !== null) await noteDoubt(db, first.id, null);
}

/** What the attempt that ended a family, or ends it now, means for the coins of all of them. */
export async function settleMined(trx: Trx, { family, txHash, terms }: Transaction): Promise<void> {
  const spends = readTerms(terms).coins.map(({ outpoint }) => outpoint);
  await settleCoins(trx, family, { txHash, spends });
}
