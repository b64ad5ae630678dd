import type { AssetSymbol } from '@quittance/shared/assets';
import { reason } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import type { Evidence, HeldPayout, OrderedPayment, Reconciliation } from '../domain/clearance.ts';
import type { Ports, SignerChain, SolanaNodes } from '../ports.ts';
import type { AskedOrder } from '../read-order.ts';
import { clearedPayouts, formerDestinations } from '../store/cleared-payouts.ts';
import { earlierSignatures, noteNonInclusion } from '../store/signatures.ts';

/** What Solana's nodes say when an order is about to be signed. Undefined: they do not answer. */
export type SolanaNow = { finalSlot: number; validToHeight: number } | undefined;

/** What other services and nodes know of orders that are asked for the first time. */
export type Collected = Evidence & { solana: SolanaNow };

/** Proofs take this long at most: the request has to be answered in time. Those that are missing are given the next time. */
const PROOFS_WITHIN_MS = 6_000;

/**
 * Asks the ledger, the auditor and the nodes for all that the new orders of a request depend on, before the transaction that
 * decides: none of it is asked while that holds its lock.
 */
export async function collectEvidence(
  ports: Ports,
  on: SignerChain,
  orders: readonly AskedOrder[],
): Promise<Collected> {
  const { db, clock, settings } = ports;
  const payments = orders.flatMap(({ payments: paid = [] }) => paid);
  const known = await clearedPayouts(db, [...new Set(payments.map(({ payout }) => payout))]);
  const unknown = payments.filter(({ payout }) => !known.has(payout));
  const asksAuditor = settings.reconciledWithinMs > 0 && unknown.length > 0;
  const reconciliations = asksAuditor ? await askAuditor(ports) : new Map();
  const [holds, solana] = await Promise.all([
    unknown.length === 0 ? new Map() : askLedger(ports, unknown, reconciliations),
    askNodes(ports, on, payments),
  ]);
  return { now: clock.now(), holds, reconciliations, solana, ...settings };
}

async function askAuditor({
  reconciliation,
}: Pick<Ports, 'reconciliation'>): Promise<Map<AssetSymbol, Reconciliation> | undefined> {
  const assets = await reconciliation();
  return (
    assets &&
    new Map(
      assets.map(({ asset, passed_at: at, is_halted: isHalted }) => [
        asset,
        { passedAt: at === null ? null : new Date(at), isHalted },
      ]),
    )
  );
}

async function askLedger(
  { db, bus, throttledLog }: Pick<Ports, 'db' | 'bus' | 'throttledLog'>,
  payments: readonly OrderedPayment[],
  reconciliations: ReadonlyMap<AssetSymbol, Reconciliation> | undefined,
): Promise<Map<string, HeldPayout> | undefined> {
  const asked = await bus.ask('holds.describe', {
    holds: payments.map(({ payout, asset }) => ({
      payout_id: payout,
      deposits_since: reconciliations?.get(asset)?.passedAt?.toISOString() ?? null,
    })),
  });
  if (!asked.known) {
    throttledLog.log('warn', 'ledger', { reason: asked.reason }, 'the ledger did not describe holds');
    return undefined;
  }
  throttledLog.ended('ledger', {}, 'the ledger describes holds again');
  const { holds } = asked.reply;
  const without = holds.filter(({ destination }) => destination === null);
  const former =
    without.length === 0
      ? new Map<string, string>()
      : await formerDestinations(
          db,
          without.map(({ payout_id: id }) => id),
        );
  return new Map(
    holds.map((hold) => [
      hold.payout_id,
      {
        account: hold.account_id,
        asset: hold.asset,
        amount: units(hold.amount),
        destination: hold.destination ?? former.get(hold.payout_id) ?? null,
        isPlaced: hold.is_placed,
        available: units(hold.available),
        depositedSince: units(hold.deposited_since),
      },
    ]),
  );
}

async function askNodes(
  ports: Ports,
  { chain, kind, nodes }: SignerChain,
  payments: readonly OrderedPayment[],
): Promise<SolanaNow> {
  if (kind !== 'solana' || nodes === undefined || payments.length === 0) return undefined;
  const { throttledLog } = ports;
  try {
    await nodes.check();
    await prove(ports, nodes, payments);
    const [finalSlot, { lastValidBlockHeight }] = await Promise.all([
      nodes.finalizedHeight(),
      nodes.lifetime(),
    ]);
    throttledLog.ended('nodes', { chain }, 'the nodes of the chain answer again');
    return { finalSlot, validToHeight: lastValidBlockHeight };
  } catch (error) {
    const fields = { chain, reason: reason(error) };
    throttledLog.log('warn', 'nodes', fields, 'the nodes of the chain did not answer, no payout is signed');
    return undefined;
  }
}

/** Stores of each earlier transaction of these payouts whether it can never be mined, as far as the nodes can show that. */
async function prove(
  { db, clock, logger }: Pick<Ports, 'db' | 'clock' | 'logger'>,
  nodes: SolanaNodes,
  payments: readonly OrderedPayment[],
): Promise<void> {
  const earlier = await earlierSignatures(
    db,
    payments.map(({ payout }) => payout),
  );
  const startedAt = clock.now().getTime();
  for (const { id, payoutId: payout, txHash, validToHeight, finalSlot, isOver } of earlier) {
    if (isOver || validToHeight === null || finalSlot === null) continue;
    if (clock.now().getTime() - startedAt > PROOFS_WITHIN_MS) return;
    if ((await nodes.nonInclusion(txHash, validToHeight, finalSlot)) !== 'proven') continue;
    await noteNonInclusion(db, id, clock.now());
    logger.info({ chain: 'solana', tx_hash: txHash, payout }, 'a transaction can never be mined');
  }
}
