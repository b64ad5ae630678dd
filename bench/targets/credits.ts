import { STREAM } from '@quittance/shared/bus-connection';
import { sleep } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import { subjectOf } from '@quittance/shared/events';
import { type AccountId, newAccountId, newEventId } from '@quittance/shared/ids';
import { anEventOf, aSettledDeposit } from '@quittance/testkit/builders';
import type { Quittance } from '@quittance/testkit/quittance';
import type { JetStreamClient, NatsConnection } from 'nats';
import type { Benchmark, Sample } from '../benchmark.ts';
import { connectAdmin } from '../yardsticks/nats.ts';
import { openTpcB } from '../yardsticks/tpc-b.ts';

const EVENTS = 10_000;
const AMOUNT = 1_000n;
const PUBLISHED_AT_ONCE = 500;
const LOOK_EVERY_MS = 10;
const WITHIN_MS = 60_000;
const SECONDS = 3;
const shared = {
  yardstick: 'TPC-B transactions of pgbench at their best, 16 clients, the same server',
  unit: '/s',
  rounds: 3,
};

export const creditsDistinct: Benchmark = {
  name: 'credits',
  what: 'A backlog of 10,000 settled deposits of 10,000 accounts that the ledger takes from NATS, credits and confirms with events of its own.',
  target: { atLeast: 5 },
  ...shared,
  setUp: (lab) => creditsOf(lab, EVENTS),
};

export const creditsHot: Benchmark = {
  name: 'credits-hot',
  what: 'The same backlog of one account.',
  target: { atLeast: 3 },
  ...shared,
  setUp: (lab) => creditsOf(lab, 1),
};

async function creditsOf(
  lab: Parameters<Benchmark['setUp']>[0],
  accounts: number,
): ReturnType<Benchmark['setUp']> {
  const quittance = await lab.quittance();
  const { stack, db } = quittance;
  const { services, engines } = stack;
  // It knows none of these deposits, and has no part in crediting them.
  await services.invoices.stop();
  const nc = await connectAdmin(stack);
  const tpcB = await openTpcB(engines.postgres.url);
  return {
    ours: () => backlog(quittance, nc, accounts),
    theirs: () => tpcB.measure(SECONDS),
    async close() {
      await nc.close();
      await db.rows(
        `insert into invoices.inbox (event_id) select id from ledger.outbox where kind = 'credit.recorded'
         order by id on conflict do nothing`,
      );
      await services.invoices.restart();
    },
    processes: { ledger: services.ledger.pid, postgres: engines.postgres.pid, nats: engines.nats.pid },
  };
}

/** Publishes the deposits while the ledger stands still, and times it from its continuation to the last credit. */
async function backlog({ stack, db }: Quittance, nc: NatsConnection, count: number): Promise<Sample> {
  const accounts = Array.from({ length: count }, () => newAccountId(new Date()));
  const js = nc.jetstream();
  stack.services.ledger.pause();
  try {
    for (let from = 0; from < EVENTS; from += PUBLISHED_AT_ONCE)
      await Promise.all(
        Array.from({ length: PUBLISHED_AT_ONCE }, (_, i) =>
          publish(js, accounts[(from + i) % count] as AccountId),
        ),
      );
  } finally {
    stack.services.ledger.resume();
  }
  const begun = performance.now();
  while (await hasMore(nc)) {
    if (performance.now() > begun + WITHIN_MS) throw new Error('the ledger does not take the deposits');
    await sleep(LOOK_EVERY_MS);
  }
  const seconds = (performance.now() - begun) / 1_000;
  const done = await credited(db, accounts);
  if (done !== EVENTS) throw new Error(`the ledger has credited ${done} of ${EVENTS} deposits`);
  return { figure: EVENTS / seconds, operations: EVENTS };
}

async function publish(js: JetStreamClient, account: AccountId): Promise<void> {
  const id = newEventId();
  const payload = aSettledDeposit({ account_id: account, amount: AMOUNT.toString(), outpoint: `${id}:0` });
  const event = anEventOf('deposit.settled', payload, { id });
  await js.publish(subjectOf('deposit.settled', 'ledger'), JSON.stringify(event), {
    msgID: `${id}.0.ledger`,
  });
}

/** Whether the ledger has deposits that it has not acknowledged: NATS is asked, so that Postgres has nothing to do for it. */
async function hasMore(nc: NatsConnection): Promise<boolean> {
  const { consumers } = await nc.jetstreamManager();
  const { num_pending: waiting, num_ack_pending: taken } = await consumers.info(STREAM, 'ledger');
  return waiting + taken > 0;
}

/** How many deposits the balances of these accounts are made of. */
async function credited(db: Db, accounts: readonly string[]): Promise<number> {
  const { sum } = await db.one<{ sum: string }>(
    `select coalesce(sum(available), 0)::text as sum from ledger.balances where asset = 'ETH' and account_id = any($1::text[])`,
    [accounts],
  );
  // eslint-disable-next-line no-restricted-syntax -- a count
  return Number(BigInt(sum) / AMOUNT);
}
