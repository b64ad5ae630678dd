import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { Engine } from '@quittance/engines/process';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Service, services } from '@quittance/shared/events';
import { crashOrders } from '@quittance/testkit/crash-orders';
import type { Customer } from '@quittance/testkit/customer';
import { checkWebhook } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import type { ApiAnswer, Merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, type QuittanceOptions, startQuittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { Webhook } from 'standardwebhooks';
import { changedBytes } from './crash-oracles.ts';
import { type Mining, mineAllTheTime } from './mining.ts';
import { sized } from './size.ts';

const CONFIRMATIONS = 2;
/** At full size as in production; most of a recovery is waiting for the lease of who died. */
const LEASE_MS = String(sized(2_000, 5_000));
const COMPLAINTS_KEPT = 12;
const leaseHolders: readonly Service[] = ['invoices', 'payouts'];
const BLOCK_EVERY_MS = 400;
/** The node keeps the last states only, as others do: on a real chain a service is back long before they are gone. */
const BEHIND_MAX = 30;
/** A client gives a request up after this long; services die and come back meanwhile, one after the other. */
const INSIST_FOR_MS = 90_000;
const ASK_AGAIN_AFTER_MS = 100;
/** Others die meanwhile, and what it dies of has to come through them. */
const DIES_WITHIN_MS = 60_000;

/** Events that a merchant has to be told of, by the id of what they are about. */
type Told = { event: string; id: string | number };

/** A whole stack, a merchant that does not give up, and blocks that come by themselves. */
export type CrashFixture = {
  quittance: Quittance;
  receiver: Receiver;
  shop: Merchant;
  customerOf(asset: AssetSymbol): Customer;
  /** Posts with a key of its own, again and again, until there is an answer that says what was done. */
  insist(path: string, body: object): Promise<ApiAnswer>;
  /** What arrived at the merchant's webhook. */
  told(): Told[];
  /** No blocks until the work is done. */
  withoutBlocks<T>(work: () => Promise<T>): Promise<T>;
  /** Tells a service where to die. One that does not run is started for it: to die while it starts is no failure. */
  arm(service: Service, point: string): Promise<void>;
  /** Waits until it has died there, which its log says as well. */
  died(service: Service, point: string, over?: AbortSignal): Promise<void>;
  /** Kills it wherever it is. */
  kill(service: Service): void;
  /** How often it has been killed. */
  deathsOf(service: Service): number;
  /** The bytes of every transaction, by id, as they were first seen. */
  signed: Map<string, string>;
  /** Gives back what a dead service holds for a few seconds more: its leases, and what it had claimed. */
  releaseHeld(service: Service): Promise<void>;
  /** Starts services as they are in production. */
  start(services: Iterable<Service>): Promise<void>;
  /** The process of a service. */
  processOf(service: Service): Engine;
  /** What a service has written since it was asked the last time. */
  logOf(service: Service): string[];
  /** The last that was worth a warning, for the reader of a failed test. */
  complaints(): string;
  stop(): Promise<void>;
};

export async function startCrashFixture(options: QuittanceOptions): Promise<CrashFixture> {
  const ordersDir = mkdtempSync(join(tmpdir(), 'quittance-orders-'));
  const orders = crashOrders(ordersDir);
  const ofService = (service: Service) => ({
    ...orders.environment(service),
    ...(leaseHolders.includes(service) ? { LEASE_MS } : {}),
    // A payer sends the form of a link again while the service is dead.
    ...(service === 'gateway' ? { LINK_PAYMENTS_PER_MINUTE: '1000' } : {}),
  });
  const [quittance, receiver] = await Promise.all([
    startQuittance({
      confirmations: CONFIRMATIONS,
      fixedFees: true,
      settings: Object.fromEntries(services.map((service) => [service, ofService(service)])),
      ...options,
    }),
    startReceiver(checkWebhook),
  ]);
  const { stack } = quittance;
  const shop = await quittance.merchant();
  const registered = await shop.post('/api/webhooks', { url: receiver.url });
  expect(registered.status).toBe(201);
  const webhook = new Webhook(registered.body.data.secret);
  // One whose signature is wrong is never delivered.
  receiver.answer((response, { body, headers }) => {
    try {
      webhook.verify(body, headers as Record<string, string>);
      response.writeHead(200).end();
    } catch {
      response.writeHead(400).end();
    }
  });
  const blocks = startBlocks(quittance, options.chains ?? ['bitcoin', 'solana']);
  const read = new Map<Service, number>();
  const deaths = new Map<Service, number>();
  const processOf = (service: Service): Engine => {
    const process = stack.services[service];
    if (process === undefined) throw new Error(`this stack has no ${service}`);
    return process;
  };

  const textOf = (service: Service): string =>
    readFileSync(join(dirname(stack.pricesFile), 'logs', `${service}.log`), 'utf8');

  const fixture: CrashFixture = {
    quittance,
    receiver,
    shop,
    customerOf(asset) {
      const { chain } = assets[asset];
      if (chain === 'bitcoin') return quittance.bitcoin;
      return chain === 'solana' ? quittance.solana : quittance.ethereum;
    },
    async insist(path, body) {
      const key = randomUUID();
      const deadline = Date.now() + patient(INSIST_FOR_MS);
      for (;;) {
        const answer = await shop.post(path, body, { 'idempotency-key': key }).catch(() => undefined);
        // 409: an earlier request with this key is running, or its process has died.
        if (answer !== undefined && answer.status < 500 && answer.status !== 409) return answer;
        if (Date.now() > deadline) throw new Error(`${path} had no answer: ${answer?.status}`);
        await sleep(ASK_AGAIN_AFTER_MS);
      }
    },
    told: () =>
      receiver.received.map(({ body }) => {
        const { event, data } = JSON.parse(body) as { event: string; data: { id: string | number } };
        return { event, id: data.id };
      }),
    async withoutBlocks(work) {
      await blocks.pause();
      try {
        return await work();
      } finally {
        blocks.resume();
      }
    },
    async arm(service, point) {
      fixture.logOf(service);
      const { pid } = processOf(service);
      if (pid !== undefined) return await orders.give(service, pid, point);
      const settings = stack.settingsOf(service);
      settings['CRASH_AT'] = point;
      try {
        await processOf(service).restart();
      } catch (error) {
        if (processOf(service).pid !== undefined) throw error;
      } finally {
        delete settings['CRASH_AT'];
      }
    },
    async died(service, point, over) {
      const name = point.split(':')[0];
      await eventually(() => {
        if (over?.aborted === true) return;
        if (processOf(service).pid !== undefined) throw new Error(`${service} passed no ${name}`);
      }, DIES_WITHIN_MS);
      over?.throwIfAborted();
      const lines = await eventually(() => {
        const deaths = fixture.logOf(service).filter((line) => line.includes('"failpoint"'));
        if (deaths.length === 0) throw new Error(`${service} does not say where it died`);
        return deaths;
      });
      expect(lines.map((line) => JSON.parse(line).failpoint)).toEqual([name]);
      deaths.set(service, fixture.deathsOf(service) + 1);
      expect(await changedBytes(fixture)).toEqual([]);
    },
    kill(service) {
      processOf(service).kill();
      deaths.set(service, fixture.deathsOf(service) + 1);
    },
    deathsOf: (service) => deaths.get(service) ?? 0,
    signed: new Map(),
    async releaseHeld(service) {
      for (const statement of held[service] ?? []) await quittance.db.rows(statement);
    },
    async start(services) {
      await Promise.all([...services].map((service) => processOf(service).restart()));
    },
    processOf,
    complaints: () =>
      services
        .filter((service) => stack.services[service] !== undefined)
        .flatMap((service) =>
          textOf(service)
            .split('\n')
            .filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))
            .slice(-COMPLAINTS_KEPT)
            .map((line) => `${service} ${line}`),
        )
        .join('\n'),
    logOf(service) {
      const text = textOf(service);
      const from = read.get(service) ?? 0;
      const upTo = text.lastIndexOf('\n') + 1;
      read.set(service, upTo);
      return text
        .slice(from, upTo)
        .split('\n')
        .filter((line) => line !== '');
    },
    async stop() {
      await blocks.stop();
      await quittance.stop();
      await receiver.close();
      rmSync(ordersDir, { recursive: true, force: true });
    },
  };
  return fixture;
}

const leasesOf = (service: Service) =>
  `update ${service}.leases set expires_at = now() - interval '1 second'`;
const eventsOf = (service: Service) =>
  `update ${service}.outbox set claimed_until = null where claimed_until > now() and sent_at is null`;

/** What nobody else may touch for a while, because who died had it. */
const held: Partial<Record<Service, readonly string[]>> = {
  invoices: [leasesOf('invoices'), eventsOf('invoices')],
  payouts: [leasesOf('payouts'), eventsOf('payouts')],
  ledger: [eventsOf('ledger')],
  auditor: [leasesOf('auditor'), eventsOf('auditor')],
};

/** Blocks for the chains whose nodes make none unasked. */
function startBlocks(quittance: Quittance, chains: readonly string[]): Mining {
  const customers: Customer[] = [quittance.ethereum];
  if (chains.includes('bitcoin')) customers.push(quittance.bitcoin);
  /** So many blocks invoices has not read; its process may be dead. */
  const farthestBehind = async (): Promise<number> => {
    const read = await quittance.db.maybe<{ height: number }>(
      `select height from invoices.cursors where chain = 'ethereum'`,
    );
    return read === undefined ? 0 : (await quittance.ethereum.height()) - read.height;
  };
  return mineAllTheTime(async () => {
    if ((await farthestBehind()) < BEHIND_MAX)
      await Promise.all(customers.map((customer) => customer.mine()));
  }, BLOCK_EVERY_MS);
}
