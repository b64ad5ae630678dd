import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Service, services } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { type Merchant, merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import { askFor, newAddress } from './asked-payouts.ts';
import { expectHarmless, expectTrueWords, type Findings, recovered } from './expect-harmless.ts';
import {
  balanced,
  isUpgrade,
  manyReplicas,
  REPLICAS,
  type ServiceReplica,
  type Shared,
} from './many-replicas.ts';
import { lookingOn, unseemly } from './onlookers.ts';
import { type Step, stepsTable } from './steps-table.ts';
import { type UnderLoad, underLoad } from './under-load.ts';

/**
 * The shape of a larger installation under load: several processes of every service, NATS on three nodes, a Postgres with a
 * synchronous standby, a Redis, and in front of each service a balancer that goes to the next replica where one refuses.
 * A merchant sells, is paid, pays out and reads all the time. Whatever is killed, failed over or restarted, no read fails,
 * a payout is accepted or refused for certain, and in the end each has exactly one effect. Only of a request that was at work
 * in what was killed nothing is known: its client hears 500, or nothing, and asks again with the same key.
 *
 * A read whose connection to a gateway breaks is sent again, as load balancers do; an answer counts as it is.
 */
const GROUP = 'many replicas';
const HEALS_WITHIN_MS = 20_000;
/** Twenty processes have just started, and a merchant already sells and pays out. */
const FIRST_SALE_WITHIN_MS = 60_000;
const [ACCEPTED, NOT_NOW, NO_ANSWER] = [201, 503, 0] as const;
/**
 * What was at work in a process that was killed: nobody knows what became of it until its client asks again. For some seconds
 * it may hear that its first request still runs.
 */
const [NOT_KNOWN, STILL_RUNNING] = [500, 409] as const;

jest.setTimeout(patient(180_000));

const many = manyReplicas();
const payoutAnswers = new Map<number, number>();
const steps: Step[] = [];
let shop: Merchant;
/** Somebody who has signed up at this moment, and whom nobody else uses. */
const newMerchant = async (): Promise<Merchant> =>
  balanced(on.between.url, await on.quittance.merchant(), on.quittance, payoutAnswers);

afterAll(async () => {
  process.stdout.write(stepsTable(steps));
  // Before what they stand on. Those that the stack has started it stops itself.
  await on.load?.abandon();
  const others = Object.values(on.between?.replicas ?? {}).flatMap((all) => all.slice(1));
  await Promise.all(others.map(({ engine }) => engine.stop()));
}, patient(60_000));

const on: UnderLoad<Shared> = underLoad({
  options: many.options,
  between: many.start,
  load: {
    // Twenty processes and three engines share the processors: no more than they can do meanwhile. What waits behind
    // others would be taken for what does not recover.
    clients: 2,
    pauseMs: 1_000,
    blockEveryMs: 600,
    mostOpen: 5,
    merchant: (quittance) =>
      quittance.merchant().then((own) => balanced(on.between.url, own, quittance, payoutAnswers)),
  },
  close: (between) => between.close(),
});

beforeAll(
  async () => {
    shop = await newMerchant();
    const { body } = await shop.post('/api/invoices', { asset: 'ETH', amount: '5000' });
    await on.quittance.ethereum.pay('ETH', body.data.address.address, body.data.amount);
    await paid(body.data.id, FIRST_SALE_WITHIN_MS);
  },
  patient(FIRST_SALE_WITHIN_MS + 30_000),
);

const paid = (invoice: string, withinMs = HEALS_WITHIN_MS): Promise<void> =>
  eventually(
    async () => expect((await shop.get(`/api/invoices/${invoice}`)).body.status).toBe('paid'),
    withinMs,
  );

/** Somebody pays, and is paid: every service has done its part. */
async function roundTrip(): Promise<void> {
  const sale = await eventually(async () => {
    const made = await shop.post('/api/invoices', { asset: 'ETH', amount: '5' });
    expect(made.status).toBe(ACCEPTED);
    return made.body.data;
  }, HEALS_WITHIN_MS);
  await on.quittance.ethereum.pay('ETH', sale.address.address, sale.amount);
  const { answer } = await eventually(async () => {
    const asked = await askFor(shop, newAddress());
    expect(asked.answer.status).toBe(ACCEPTED);
    return asked;
  }, HEALS_WITHIN_MS);
  await paid(sale.id);
  await eventually(
    async () => expect((await shop.get(`/api/payouts/${answer.body.data.id}`)).body.status).toBe('mined'),
    HEALS_WITHIN_MS,
  );
}

/** A payout was at work in what was killed, in this step or in one before. */
let isUnknown = false;

/** What may be answered beside 200, or 201 and 503. */
type Told = { reads?: readonly number[]; payouts?: readonly number[] };

/** Goes through one step while merchants read and pay out, and notes what they met. */
const step = (
  name: string,
  work: (found: Findings) => Promise<void>,
  { reads = [], payouts = [] }: Told = {},
): Promise<void> =>
  expectHarmless(GROUP, name, async (found) => {
    payoutAnswers.clear();
    const met: Step = { step: name, reads: 0, failedReads: 0, payouts: payoutAnswers, found };
    steps.push(met);
    const looks = await lookingOn(on.load.merchant, () => work(found));
    for (const [status, n] of looks.statuses) {
      met.reads += n;
      if (status !== 200) met.failedReads += n;
    }
    met.payouts = new Map(payoutAnswers);
    for (const status of [NOT_KNOWN, NO_ANSWER]) isUnknown ||= met.payouts.has(status);
    const told = [ACCEPTED, NOT_NOW, ...payouts, ...(isUnknown ? [STILL_RUNNING] : [])];
    found.violations.push(
      ...unseemly(looks, [200, ...reads], on.logs),
      ...unseemly({ statuses: met.payouts }, told).map((what) => `payouts: ${what}`),
    );
  });

async function timed(found: Findings, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  recovered(found, performance.now() - began);
}

/** How often each replica has sent this to the node. */
const sentBy = (service: Service, method: string): number[] =>
  on.between.replicas[service].map(({ node }) => node?.counted(method).asked ?? 0);

/** How many replicas sent this to the node while something was done. */
async function howManySend(service: Service, method: string, during: () => Promise<void>): Promise<number> {
  const before = sentBy(service, method);
  await during();
  return sentBy(service, method).filter((n, i) => n > (before[i] ?? 0)).length;
}

const READS_BLOCKS = 'eth_getBlockReceipts';
const SENDS = 'eth_sendRawTransaction';

test('three gateways count a limit together, one replica scans the chain, and one pays', () =>
  step('nothing is broken', async (found) => {
    const PER_MINUTE = 30;
    const limited = await on.quittance.merchant();
    await on.quittance.db.rows('update gateway.accounts set requests_per_minute = $2 where id = $1', [
      limited.id,
      PER_MINUTE,
    ]);
    const gateways = on.between.replicas.gateway.map(({ port }) =>
      merchant(`http://127.0.0.1:${port}`, limited.id, limited.token),
    );
    const statuses: number[] = [];
    for (let round = 0; round < PER_MINUTE; round++) {
      const answers = await Promise.all(gateways.map((gateway) => gateway.get('/api/balances')));
      statuses.push(...answers.map(({ status }) => status));
    }
    const allowed = statuses.filter((status) => status === 200);
    const refused = statuses.filter((status) => status === 429);
    expect(allowed.length + refused.length).toBe(gateways.length * PER_MINUTE);
    // Each by itself would refuse none. Where Redis takes longer than 0.2 s a gateway counts a hit by itself.
    expect(allowed.length).toBeGreaterThanOrEqual(PER_MINUTE);
    expect(allowed.length).toBeLessThan(2 * PER_MINUTE);
    found.fired += refused.length;

    let senders = 0;
    const scanners = await howManySend('invoices', READS_BLOCKS, async () => {
      senders = await howManySend('payouts', SENDS, () => timed(found, roundTrip));
    });
    expect({ scanners, senders }).toEqual({ scanners: 1, senders: 1 });
  }));

test('a node of NATS is killed: the other two go on', () =>
  step('the leading node of NATS killed', async (found) => {
    const { stack } = on.quittance;
    const node = await many.nats.leader(stack);
    node.kill();
    await timed(found, roundTrip);
    expect(node.pid).toBeUndefined();
    found.fired += 1;
    await node.restart();
    await many.nats.complete(stack);
  }));

/** Replicas that were killed, and start again while the next ones are. */
const starting: Promise<void>[] = [];

test.each(services)('a replica of %s is killed: the others go on', (service) =>
  step(
    `${service} killed`,
    async (found) => {
      const { engine } = await atWork(service);
      engine.kill();
      await timed(found, roundTrip);
      expect(engine.pid).toBeUndefined();
      found.fired += 1;
      starting.push(engine.restart());
    },
    { payouts: [service === 'gateway' ? NO_ANSWER : NOT_KNOWN] },
  ),
);

/** The one that does what only one does, where there is such work; else the first. */
async function atWork(service: Service): Promise<ServiceReplica> {
  const all = on.between.replicas[service];
  const method = { invoices: READS_BLOCKS, payouts: SENDS }[String(service)];
  if (method === undefined) return all[0] as ServiceReplica;
  const before = sentBy(service, method);
  return await eventually(() => {
    const found = all.find((_, i) => (sentBy(service, method)[i] ?? 0) > (before[i] ?? 0));
    if (found === undefined) throw new Error(`no replica of ${service} sent ${method}`);
    return found;
  });
}

test('the primary of Postgres is killed and its standby promoted: nothing that was acknowledged is lost', () =>
  step(
    'Postgres failed over',
    async (found) => {
      await Promise.all(starting.splice(0));
      const { primary, standby, address, replication } = many.postgres;
      expect(await many.postgres.isSynchronous()).toBe(true);
      // As far away as another zone. What is on its way when the primary dies, dies with it: so much of the log is lost of
      // a primary whose commits do not wait for the standby.
      replication.set({ kind: 'latency', ms: 40 });
      const acknowledged: string[] = [];
      const sell = async () => {
        while (primary.pid !== undefined) {
          const { status, body } = await shop.post('/api/invoices', { asset: 'ETH', amount: '5' });
          if (status === ACCEPTED) acknowledged.push(body.data.id);
        }
      };
      const selling = Promise.all([sell(), sell(), sell(), sell()]);
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(20), HEALS_WITHIN_MS, 1);
      primary.kill();
      found.fired += replication.cut();
      await timed(found, async () => {
        await standby.promote();
        address.leadTo(standby.url);
        await roundTrip();
      });
      await selling;
      for (const id of acknowledged) {
        const { status } = await shop.get(`/api/invoices/${id}`);
        if (status !== 200) found.violations.push(`invoice ${id} was acknowledged and is answered ${status}`);
      }
    },
    { reads: [NOT_NOW], payouts: [NOT_KNOWN] },
  ));

test('all replicas are restarted, one of each service after the other', () =>
  step(isUpgrade ? 'rolling upgrade' : 'rolling restart', async (found) => {
    many.upgrade();
    for (let turn = 0; turn < Math.max(...Object.values(REPLICAS)); turn++) {
      const some = services.flatMap((service) => on.between.replicas[service][turn] ?? []);
      await Promise.all(some.map(({ engine }) => engine.restart()));
      found.fired += some.length;
    }
    await timed(found, roundTrip);
  }));

test('in the end every word that was given is true', async () => {
  const { accepted } = await expectTrueWords(GROUP, on.load);
  expect(accepted).toBeGreaterThan(steps.length);
});
