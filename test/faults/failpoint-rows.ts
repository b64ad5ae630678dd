import { seeded } from '@quittance/testkit/seeded';
import { approved } from './crash-approval-scenarios.ts';
import {
  late,
  outage,
  paidByContract,
  readAgain,
  reorganised,
  takenBack,
  unmined,
  unpaid,
} from './crash-deposit-scenarios.ts';
import { chosen, followed } from './crash-payer-scenarios.ts';
import {
  float,
  longDoubted,
  manyUtxos,
  refusedByRecipient,
  reverted,
  storedAsSent,
  stuck,
  takeNonce,
} from './crash-payout-scenarios.ts';
import { batched, cancelled, claimed, refunded, unclaimed, voidSoon } from './crash-refund-scenarios.ts';
import { largeSale, miscounted, sale, tooMuch, unanswered } from './crash-scenarios.ts';
import {
  after,
  alone,
  asking,
  at,
  during,
  lostByBroker,
  neverFollowed,
  older,
  whileTooOld,
} from './failpoint-kinds.ts';
import { type FailpointSuite, type Kind, pointsOf, type Row } from './failpoint-suite.ts';
import { drawSome, FAULTS_SEED, isFull, sized } from './size.ts';
import { reportDraw } from './table.ts';

/** Every day so many points of each kind are drawn, and of the kinds that run alone so many. */
const SHARE_OF_A_DAY = 1 / 6;
const ALONE_A_DAY = 1 / 3;

/** All rows at full size; else some, which the seed draws. */
export function rowsOfTheDay(suite: FailpointSuite): Row[] {
  const rows = drawRows(suite);
  reportDraw({
    drawn: rows.flatMap(pointsOf).length,
    of: suite.kinds.flatMap(({ points }) => points).length,
  });
  return rows;
}

function drawRows({ kinds }: FailpointSuite): Row[] {
  if (isFull) return kinds.flatMap(({ points, ...kind }) => points.map((point) => ({ ...kind, point })));
  const random = seeded(FAULTS_SEED);
  const isAlone = (kind: Kind): boolean => kind.alone === true;
  const notToday = new Set(kinds.filter(isAlone)).difference(
    new Set(drawSome(kinds.filter(isAlone), random, ALONE_A_DAY)),
  );
  const today = kinds.filter((kind) => !notToday.has(kind));
  return today.flatMap(({ points, ...kind }) => {
    const drawn = drawSome(points, random, SHARE_OF_A_DAY);
    const [point, ...next] = drawn;
    if (kind.alone !== true || point === undefined) return drawn.map((one) => ({ ...kind, point: one }));
    return [{ ...kind, point, next }];
  });
}

const relay = ['relay.claimed', 'relay.published', 'relay.marked'] as const;
const consumer = ['consumer.before_commit', 'consumer.after_commit', 'consumer.acknowledged'] as const;
/** Between what is going to be signed and its bytes: payouts and the signer, in the order of these. */
const plans = ['plans.storing', 'plans.stored', 'plans.signed'] as const;
const signer = ['signer.recording', 'signer.recorded'] as const;
const groupPoints = (purpose: string): string[] =>
  ['signing', 'signed', 'sent', 'broadcast', 'settling', 'settled'].map((step) => `${purpose}s.${step}`);

const eth = sale('ETH');
const btc = sale('BTC');
const sol = sale('SOL');

/** Ether, with most of what happens to requests, invoices and balances whatever their chain. */
const ethereum: FailpointSuite = {
  options: { chains: [] },
  funds: [['ETH', 20_000]],
  always: eth,
  kinds: [
    at('payouts', 'evm.planned', ...plans, ...groupPoints('evm.payout'), 'evm.block_noted'),
    at('signer', ...signer),
    during(largeSale('ETH', 2_000), 'payouts', 'evm.wallet_opened', ...groupPoints('evm.sweep')),
    alone(stuck('ETH'), 'payouts', 'evm.bumps.signed'),
    alone(reverted, 'payouts', 'evm.payouts.settled'),
    during(refusedByRecipient, 'payouts', 'payouts.failing', 'payouts.failed'),
    during(
      batched('ETH'),
      'payouts',
      'payouts.batch_requested',
      'payouts.batch_held',
      'payouts.batch_decided',
      'payouts.batch_finished',
    ),
    after(
      ['payouts', 'payouts.batch_held'],
      batched('ETH'),
      voidSoon,
    )('payouts', 'payouts.stale_batch_finished'),
    during(
      cancelled('ETH'),
      'payouts',
      'payouts.cancel_requested',
      'payouts.cancelling',
      'payouts.cancelled',
    ),
    during(approved, 'payouts', 'payouts.policy_changed', 'payouts.approval_decided'),
    {
      ...after(['payouts', 'evm.payouts.signed'], eth, takeNonce)(
        'payouts',
        'payouts.invalidating',
        'payouts.invalidated',
      ),
      scenario: longDoubted,
    },
    at(
      'invoices',
      'invoices.address_taken',
      'invoices.created',
      'invoices.blocks_read',
      'invoices.deposits_written',
      'invoices.recomputed',
      'invoices.block_written',
      'invoices.block_committed',
      'invoices.credited',
      'invoices.synced',
    ),
    during(unpaid, 'invoices', 'invoices.expired'),
    during(outage, 'invoices', 'invoices.expiry_extended'),
    during(paidByContract, 'invoices', 'invoices.balance_checked', 'invoices.balance_recorded'),
    during(readAgain, 'invoices', 'invoices.blocks_read_again', 'invoices.rescan_advanced'),
    alone(reorganised, 'invoices', 'invoices.branch_read', 'invoices.branch_dropped'),
    at(
      'ledger',
      'ledger.hold_decided',
      'ledger.deposits_booked',
      'ledger.hold_settled',
      'ledger.spending_booked',
    ),
    during(refusedByRecipient, 'ledger', 'ledger.hold_released'),
    during(late, 'ledger', 'ledger.unresolved_accepted'),
    alone(takenBack, 'ledger', 'ledger.reversals_remembered', 'ledger.reversal_booked'),
    at('gateway', 'gateway.admitted', 'gateway.answered:2', 'gateway.uses_taken', 'gateway.uses_written'),
    at(
      'webhooks',
      'webhooks.events_logged',
      'webhooks.claimed',
      'webhooks.sent',
      'webhooks.recording',
      'webhooks.recorded',
    ),
  ],
};

/** Bitcoin, and requests that nobody decides. */
const bitcoin: FailpointSuite = {
  options: { chains: ['bitcoin'] },
  funds: [
    ['BTC', 100_000],
    ['ETH', 20_000],
  ],
  always: btc,
  kinds: [
    // First, while there is little to be read again.
    neverFollowed(btc, 'invoices', 'invoices.chain_started'),
    at('payouts', 'bitcoin.planned', ...plans, ...groupPoints('bitcoin.payout'), 'bitcoin.block_noted'),
    at('signer', ...signer),
    alone(storedAsSent('BTC'), 'payouts', 'bitcoin.payouts.sent'),
    during(float, 'payouts', 'bitcoin.hot_utxos_stored'),
    at('payouts', 'consumer.after_commit'),
    alone(stuck('BTC'), 'payouts', 'bitcoin.bumps.signed'),
    alone(manyUtxos, 'payouts', ...groupPoints('bitcoin.sweep')),
    at('payouts', 'payouts.requested', 'payouts.held', 'payouts.reserved'),
    during(tooMuch('BTC'), 'payouts', 'payouts.refused'),
    during(refunded('BTC'), 'payouts', 'payouts.refund_taken', 'payouts.refund_reserved'),
    alone(unanswered('BTC'), 'payouts', 'payouts.voided'),
    after(['payouts', 'payouts.requested'], btc, older)(
      'payouts',
      'payouts.voiding_requests',
      'payouts.requests_voided',
    ),
    alone(unmined('BTC'), 'invoices', 'invoices.pending_written', 'invoices.pending_committed'),
    at('invoices', ...relay, ...consumer),
    during(
      chosen('BTC'),
      'invoices',
      'invoices.unchosen_created',
      'invoices.asset_choosing',
      'invoices.asset_chosen',
    ),
    at('ledger', ...relay, ...consumer, 'ledger.rates_saved', 'ledger.quotes_published'),
    at('webhooks', ...consumer),
    after(['webhooks', 'webhooks.claimed'], btc, older)('webhooks', 'webhooks.taken_back'),
    // It dies with the hold placed: what is given up then is undone in the ledger, and not only refused.
    // The ledger is away until payouts is back and it is told where to die: a busy machine takes longer for that than payouts
    // takes to give the request up.
    after(['payouts', 'payouts.held'], btc, async (fixture) => {
      fixture.kill('ledger');
      await older(fixture);
      await fixture.start(['payouts']);
      return undefined;
    })('ledger', 'ledger.tombstones_left', 'ledger.hold_voided'),
  ],
};

/** SOL, with addresses that only the key holder can name. */
const solana: FailpointSuite = {
  // What is signed is valid for 24 s, at full size for twelve: who died is back by then, also on a busy machine.
  options: { chains: ['solana'], auditor: true, solanaSlotMs: sized(160, 80) },
  funds: [
    ['SOL', 3_000],
    ['ETH', 20_000],
  ],
  always: sol,
  kinds: [
    at('payouts', 'solana.planned', ...plans, ...groupPoints('solana.payout')),
    during(largeSale('USDC_SOL', 600), 'payouts', ...groupPoints('solana.sweep')),
    after(['payouts', 'solana.payouts.signed'], sol, whileTooOld)('payouts', 'solana.resigns.signed'),
    after(['payouts', 'solana.sweeps.signed'], largeSale('USDC_SOL', 600), whileTooOld)(
      'payouts',
      'sweeps.invalidating',
      'sweeps.invalidated',
    ),
    at('signer', ...signer, 'signer.addresses_derived'),
    at('payouts', ...relay, ...consumer),
    during(
      unclaimed('SOL'),
      'payouts',
      'payouts.refund_link_stored',
      'payouts.claim_cancelled',
      'payouts.refunds_ended',
    ),
    alone(
      claimed('SOL'),
      'payouts',
      'payouts.refund_taken',
      'payouts.requested',
      'payouts.held',
      'payouts.refund_reserved',
    ),
    at('invoices', 'invoices.pool_derived', 'invoices.pool_saved'),
    during(followed('SOL'), 'invoices', 'invoices.link_created', 'invoices.link_followed'),
    at('auditor', 'auditor.looked'),
    alone(miscounted('SOL'), 'auditor', 'auditor.halting', 'auditor.halted'),
    asking('ledger', 'reconciler.asked'),
    asking('invoices', 'reconciler.confirmed'),
    lostByBroker('invoices', 'SOL'),
  ],
};

export const failpointSuites = { ethereum, bitcoin, solana } as const satisfies Record<
  string,
  FailpointSuite
>;
