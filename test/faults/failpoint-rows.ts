import type { Service } from '@quittance/shared/events';
import type { QuittanceOptions } from '@quittance/testkit/quittance';
import {
  float,
  late,
  longDoubted,
  manyUtxos,
  outage,
  paidByContract,
  readAgain,
  refusedByRecipient,
  reorganised,
  reverted,
  stuck,
  takeNonce,
  takenBack,
  unmined,
  unpaid,
  untilTooOld,
} from './crash-chain-scenarios.ts';
import type { CrashFixture } from './crash-fixture.ts';
import {
  type CrashAsset,
  type Ended,
  largeSale,
  miscounted,
  type Scenario,
  sale,
  tooMuch,
  unanswered,
} from './crash-scenarios.ts';
import { sized } from './size.ts';

/** One way to die: which service, where, and what runs across it beside a payment and a payout. */
export type Row = {
  service: Service;
  /** `name`, or `name:nth` where the first passing is not the one that matters. */
  point: string;
  scenario?: Scenario;
  /** What comes before the service is told where to die; what it began ends with the rest. */
  prepare?: (fixture: CrashFixture) => Promise<Promise<Ended>[]>;
  /** In a round of its own: nobody else dies beside it, and its scenario is all that runs. */
  alone?: true;
  /** Dies at these points as well, one after the other, in the same scenario. */
  next?: readonly string[];
};

/** A stack, what its merchant begins with, and who dies on it. */
export type FailpointSuite = {
  options: QuittanceOptions;
  funds: readonly (readonly [CrashAsset, dollars: number])[];
  /** What runs across every crash. */
  always: Scenario;
  rows: readonly Row[];
};

const at = (service: Service, ...points: readonly string[]): Row[] =>
  points.map((point) => ({ service, point }));

const during = (scenario: Scenario, service: Service, ...points: readonly string[]): Row[] =>
  points.map((point) => ({ service, point, scenario }));

const alone = (scenario: Scenario, service: Service, ...points: readonly string[]): Row[] =>
  oneAfterTheOther({ service, scenario, alone: true }, points);

/** At all these points in the same scenario; at full size each has a scenario of its own. */
function oneAfterTheOther(row: Omit<Row, 'point' | 'next'>, points: readonly string[]): Row[] {
  if (sized(1, points.length) > 1) return points.map((point) => ({ ...row, point }));
  const [point, ...next] = points;
  return point === undefined ? [] : [{ ...row, point, next }];
}

/** A service dies at an earlier point first, and stays dead for what comes after it. */
const after =
  (
    earlier: readonly [Service, point: string],
    scenario: Scenario,
    during: (fixture: CrashFixture) => Promise<Ended | undefined>,
  ) =>
  (service: Service, ...points: readonly string[]): Row[] =>
    oneAfterTheOther(
      {
        service,
        alone: true,
        async prepare(fixture) {
          await fixture.arm(...earlier);
          const begun = scenario(fixture, Promise.resolve());
          await fixture.died(...earlier);
          const ended = await during(fixture);
          return [begun.then((usual) => ended ?? usual)];
        },
      },
      points,
    );

/** The events of these services that were sent are a minute old: their senders ask whether they have arrived. */
const sentLongAgo = async ({ quittance }: CrashFixture): Promise<void> => {
  for (const service of ['invoices', 'payouts', 'ledger']) {
    await quittance.db.rows(
      `update ${service}.outbox set sent_at = now() - interval '1 minute', confirmed_at = null, confirmed_by = '{}'`,
    );
  }
};
const asking = (service: Service, ...points: readonly string[]): Row[] =>
  points.map((point) => ({
    service,
    point,
    async prepare(fixture) {
      await sentLongAgo(fixture);
      return [];
    },
  }));

/** As if the broker had lost what it had confirmed. */
const lostByBroker = (service: Service, asset: CrashAsset) =>
  after([service, 'relay.claimed'], sale(asset), async ({ quittance }) => {
    await quittance.db.rows(
      `update ${service}.outbox set sent_at = now() - interval '1 minute', claimed_until = null where sent_at is null`,
    );
    return undefined;
  })(service, 'reconciler.sent_again');

/** Nothing but time passes. */
const nothing = async (): Promise<undefined> => undefined;
const whileTooOld = async (fixture: CrashFixture): Promise<undefined> => {
  await untilTooOld(fixture);
  return undefined;
};

/** A chain that was never followed before. */
const neverFollowed = (service: Service, ...points: readonly string[]): Row[] =>
  points.map((point) => ({
    service,
    point,
    alone: true,
    async prepare(fixture) {
      await fixture.processOf(service).stop();
      await fixture.quittance.db.rows('delete from invoices.blocks');
      await fixture.quittance.db.rows('delete from invoices.cursors');
      return [];
    },
  }));

const relay = ['relay.claimed', 'relay.published', 'relay.marked'] as const;
const consumer = ['consumer.before_commit', 'consumer.after_commit', 'consumer.acknowledged'] as const;
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
  rows: [
    ...at('payouts', 'evm.planned', ...groupPoints('evm.payout'), 'evm.block_noted'),
    ...during(largeSale('ETH', 2_000), 'payouts', 'evm.wallet_opened', ...groupPoints('evm.sweep')),
    ...alone(stuck('ETH'), 'payouts', 'evm.bumps.signing', 'evm.bumps.signed'),
    ...alone(reverted, 'payouts', 'evm.payouts.settled'),
    ...during(refusedByRecipient, 'payouts', 'payouts.failing', 'payouts.failed'),
    ...after(['payouts', 'evm.payouts.signed'], eth, takeNonce)(
      'payouts',
      'payouts.invalidating',
      'payouts.invalidated',
    ).map((row) => ({ ...row, scenario: longDoubted })),
    ...at(
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
    ...during(unpaid, 'invoices', 'invoices.expired'),
    ...during(outage, 'invoices', 'invoices.expiry_extended'),
    ...during(paidByContract, 'invoices', 'invoices.balance_checked', 'invoices.balance_recorded'),
    ...during(readAgain, 'invoices', 'invoices.blocks_read_again', 'invoices.rescan_advanced'),
    ...alone(reorganised, 'invoices', 'invoices.branch_read', 'invoices.branch_dropped'),
    ...at(
      'ledger',
      'ledger.hold_decided',
      'ledger.deposits_booked',
      'ledger.hold_settled',
      'ledger.spending_booked',
    ),
    ...during(refusedByRecipient, 'ledger', 'ledger.hold_released'),
    ...during(late, 'ledger', 'ledger.unresolved_accepted'),
    ...alone(takenBack, 'ledger', 'ledger.reversals_remembered', 'ledger.reversal_booked'),
    ...at('gateway', 'gateway.admitted', 'gateway.answered:2', 'gateway.uses_taken', 'gateway.uses_written'),
    ...at(
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
  funds: [['BTC', 100_000]],
  always: btc,
  rows: [
    // First, while there is little to be read again.
    ...neverFollowed('invoices', 'invoices.chain_started').map((row) => ({ ...row, scenario: btc })),
    ...at('payouts', 'bitcoin.planned', ...groupPoints('bitcoin.payout'), 'bitcoin.block_noted'),
    ...during(float, 'payouts', 'bitcoin.hot_utxos_stored'),
    ...alone(stuck('BTC'), 'payouts', 'bitcoin.bumps.signing', 'bitcoin.bumps.signed'),
    ...alone(manyUtxos, 'payouts', ...groupPoints('bitcoin.sweep')),
    ...at('payouts', 'payouts.requested', 'payouts.held', 'payouts.reserved'),
    ...during(tooMuch('BTC'), 'payouts', 'payouts.refused'),
    ...alone(unanswered('BTC'), 'payouts', 'payouts.voided'),
    ...after(['payouts', 'payouts.requested'], btc, nothing)(
      'payouts',
      'payouts.voiding_requests',
      'payouts.requests_voided',
    ),
    ...alone(unmined('BTC'), 'invoices', 'invoices.pending_written', 'invoices.pending_committed'),
    ...at('invoices', ...relay, ...consumer),
    ...at('ledger', ...relay, ...consumer, 'ledger.rates_saved', 'ledger.quotes_published'),
    ...at('webhooks', ...consumer),
    ...after(['webhooks', 'webhooks.claimed'], btc, nothing)('webhooks', 'webhooks.taken_back'),
    // It dies with the hold placed: what is given up then is undone in the ledger, and not only refused.
    // The ledger is away until payouts is back and it is told where to die: a busy machine takes longer for that than payouts
    // takes to give the request up.
    ...after(['payouts', 'payouts.held'], btc, async (fixture) => {
      fixture.processOf('ledger').kill();
      await fixture.start(['payouts']);
      return undefined;
    })('ledger', 'ledger.tombstones_left', 'ledger.hold_voided'),
  ],
};

/** SOL, with addresses that only the key holder can name. */
const solana: FailpointSuite = {
  // What is signed is valid for twelve seconds: who died is back by then.
  options: { chains: ['solana'], auditor: true, solanaSlotMs: 80 },
  funds: [['SOL', 3_000]],
  always: sol,
  rows: [
    ...at('payouts', 'solana.planned', ...groupPoints('solana.payout')),
    ...during(largeSale('USDC_SOL', 600), 'payouts', ...groupPoints('solana.sweep')),
    ...after(['payouts', 'solana.payouts.signed'], sol, whileTooOld)(
      'payouts',
      'solana.resigns.signing',
      'solana.resigns.signed',
    ),
    ...after(['payouts', 'solana.sweeps.signed'], largeSale('USDC_SOL', 600), whileTooOld)(
      'payouts',
      'sweeps.invalidating',
      'sweeps.invalidated',
    ),
    ...at('payouts', 'payouts.addresses_derived', ...relay, ...consumer),
    ...at('invoices', 'invoices.pool_derived', 'invoices.pool_saved'),
    ...at('auditor', 'auditor.looked'),
    ...alone(miscounted('SOL'), 'auditor', 'auditor.halting', 'auditor.halted'),
    ...asking('ledger', 'reconciler.asked'),
    ...asking('invoices', 'reconciler.confirmed'),
    ...lostByBroker('invoices', 'SOL'),
  ],
};

export const failpointSuites = { ethereum, bitcoin, solana } as const satisfies Record<
  string,
  FailpointSuite
>;

/** The names of all points of a row. */
export const pointsOf = ({ point, next = [] }: Row): string[] => [point.split(':')[0] ?? point, ...next];
