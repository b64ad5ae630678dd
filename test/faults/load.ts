import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { reason } from '@quittance/shared/logger';
import { type Customer, unitsOf } from '@quittance/testkit/customer';
import { checkWebhook } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import type { ApiAnswer, Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { compareWithWebhooks } from './compare-with-webhooks.ts';
import { mineAllTheTime } from './mining.ts';

/*
 * A merchant at work while something is broken: it sells, its customers pay, it pays out, it reads, all at once. It
 * writes down what it is told, and in the end every word it was given is held against what became of it.
 */

/** What a payout pays. */
const PAYOUT = { BTC: '0.0001', ETH: '0.001', SOL: '0.01' } as const;
export type LoadAsset = keyof typeof PAYOUT;
const SALE_DOLLARS = '5';
const FIRST_SALE_DOLLARS = '20000';
const FIRST_SALE_WITHIN_MS = 60_000;
/** After the last that was asked for; and as long as what was still open then needs. */
const ENDS_WITHIN_MS = 90_000;
/** Of what is open: five to nine a second were measured on two cores, on a Postgres that waits for its disk. */
const ENDS_PER_SECOND = 3;
const SELLS_EVERY_MS = 600;
const LOOKS_EVERY_MS = 500;
const LIST = 'perPage=100';

/** What a client knows of a payout it asked for: told 201, told that nothing was done, or nothing for certain. */
type Asked = {
  asset: LoadAsset;
  to: string;
  key: string;
  id: number | undefined;
  known: 'accepted' | 'refused' | 'unknown';
};
type Sale = { id: string; address: string; amount: string };

export type Load = {
  merchant: Merchant;
  receiver: Receiver;
  /** How much was acknowledged so far, of all payouts or of those after the first `asked`. */
  counts(asked?: number): { accepted: number; refused: number; unknown: number; sales: number };
  /** What it could not do and where it was told wrongly until now. */
  complaints(): string[];
  /** Waits for the next payout that is accepted. */
  nextAccepted(withinMs: number): Promise<void>;
  /** Asks for nothing new, waits for all to end, and names every promise that was broken. */
  finish(): Promise<string[]>;
  /** Ends it in the middle, where a test has failed. */
  abandon(): Promise<void>;
};

export type LoadOptions = {
  clients?: number;
  pauseMs?: number;
  blockEveryMs?: number;
  /** While as many payouts have not come to their end it asks for none, and so of sales. */
  mostOpen?: number;
  /** What is sold and paid out in turn; each client pays out one of them. */
  assets?: readonly LoadAsset[];
  /** Who is at work, where not an account of its own at the stack's gateway. */
  merchant?(quittance: Quittance): Promise<Merchant>;
};

/** Needs a stack with nodes for these assets, and makes the blocks that do not come by themselves. */
export async function startLoad(quittance: Quittance, options: LoadOptions = {}): Promise<Load> {
  const {
    clients = 2,
    pauseMs = 300,
    blockEveryMs = 200,
    mostOpen = Number.POSITIVE_INFINITY,
    assets = ['ETH'],
  } = options;
  const customerOf = (asset: LoadAsset): Customer =>
    ({ BTC: () => quittance.bitcoin, ETH: () => quittance.ethereum, SOL: () => quittance.solana })[asset]();
  const inTurn = (turn: number) => assets[turn % assets.length] as LoadAsset;
  const [merchant, receiver] = await Promise.all([
    options.merchant?.(quittance) ?? quittance.merchant(),
    startReceiver(checkWebhook),
  ]);
  const asked: Asked[] = [];
  const sales: Sale[] = [];
  const broken = new Set<string>();
  /** What was once shown as ended, and how. */
  const shown = new Map<string, string>();
  let trading = true;

  /** What fails in it is named and tried again: a loop that ends unheard looks like services that stand still. */
  const named = (name: string, work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => broken.add(`the load could not ${name}: ${reason(error)}`));
  const loop = async (name: string, everyMs: number, work: () => Promise<void>): Promise<void> => {
    while (trading) {
      await named(name, work());
      await sleep(everyMs);
    }
  };

  /** Undefined when there was no answer. A request may end without one while something is broken. */
  async function attempt(send: () => Promise<ApiAnswer>): Promise<ApiAnswer | undefined> {
    try {
      return await send();
    } catch {
      return undefined;
    }
  }

  /** How many of these have not been shown as ended. */
  const open = (ids: readonly (string | number | undefined)[]): number =>
    ids.filter((id) => id !== undefined && !shown.has(`${id}`)).length;

  /** One payout. Its client asks again with the same key until it knows, as long as it may have been heard. */
  async function payOut(asset: LoadAsset): Promise<void> {
    if (open(asked.map(({ id }) => id)) >= mostOpen) return;
    const to = await customerOf(asset).newAddress();
    const one: Asked = { asset, to, key: randomBytes(12).toString('hex'), id: undefined, known: 'unknown' };
    asked.push(one);
    const body = { asset, amount: PAYOUT[asset], address: to };
    let heard = false;
    while (trading) {
      const answer = await attempt(() => merchant.post('/api/payouts', body, { 'idempotency-key': one.key }));
      if (answer?.status === 201) {
        one.id = answer.body.data.id;
        one.known = 'accepted';
        return;
      }
      if (answer?.status === 400)
        broken.add(`a payout of a rich merchant was refused: ${answer.body.message}`);
      if (answer?.status === 503 && !heard) {
        one.known = 'refused';
        return;
      }
      // A 500, a 409, or none at all: it may have been done, and only the same key can tell.
      if (answer?.status !== 503) heard = true;
      await sleep(200);
    }
  }

  async function sell(asset: LoadAsset): Promise<void> {
    if (open(sales.map(({ id }) => id)) >= mostOpen) return;
    const made = await attempt(() =>
      merchant.post('/api/invoices', { asset, amount: SALE_DOLLARS, expires_in: 60 }),
    );
    if (made?.status !== 201) return;
    const { id, address, amount } = made.body.data;
    await customerOf(asset).pay(asset, address.address, amount);
    sales.push({ id, address: address.address, amount });
  }

  /** What was shown as ended stays so. */
  async function look(): Promise<void> {
    for (const path of [`/api/payouts?${LIST}`, `/api/invoices?${LIST}`]) {
      const answer = await attempt(() => merchant.get(path));
      if (answer?.status !== 200) continue;
      for (const { id, status } of answer.body.data as { id: string | number; status: string }[]) {
        const before = shown.get(`${id}`);
        if (before !== undefined && before !== status) {
          broken.add(`${path} shows ${id} as ${status}, it was shown as ${before}`);
        }
        if (status === 'mined' || status === 'failed' || status === 'paid') shown.set(`${id}`, status);
      }
    }
  }

  const blockMakers = assets.filter((asset) => asset !== 'SOL').map(customerOf);
  const mining = mineAllTheTime(
    () => named('make blocks', Promise.all(blockMakers.map((customer) => customer.mine()))),
    blockEveryMs,
  );
  await Promise.all(
    assets.map(async (asset) => {
      const first = await merchant.post('/api/invoices', { asset, amount: FIRST_SALE_DOLLARS });
      if (first.status !== 201) throw new Error(`the first sale of ${asset} is answered ${first.status}`);
      await customerOf(asset).pay(asset, first.body.data.address.address, first.body.data.amount);
      await eventually(async () => {
        const { body } = await merchant.get(`/api/invoices/${first.body.data.id}`);
        if (body.status !== 'paid') throw new Error(`the first sale of ${asset} is ${body.status}`);
      }, FIRST_SALE_WITHIN_MS);
    }),
  );
  const hook = await merchant.post('/api/webhooks', { url: `${receiver.url}/hook` });
  if (hook.status !== 201) throw new Error(`an endpoint is answered ${hook.status}`);
  const loops = [
    ...Array.from({ length: clients }, (_, i) => loop('pay out', pauseMs, () => payOut(inTurn(i)))),
    // Each by itself, so that a chain that stands still does not keep the others from being paid on.
    ...assets.map((asset) => loop(`sell for ${asset}`, SELLS_EVERY_MS * assets.length, () => sell(asset))),
    loop('look', LOOKS_EVERY_MS, look),
  ];
  const count = (known: Asked['known'], from = 0) =>
    asked.slice(from).filter((one) => one.known === known).length;

  const stillOpen = (): Promise<{ what: string }[]> =>
    quittance.db.rows(
      `select 'payout ' || id || ' is ' || status as what from payouts.payouts
         where status in ('requested', 'reserved', 'planned', 'signed', 'broadcast')
       union all
       select 'delivery ' || d.sequence || ' is ' || d.state || ', due ' || to_char(d.due_at, 'HH24:MI:SS') || ': '
           || coalesce(string_agg(coalesce(a.failure, a.status::text), ', ' order by a.number), 'never recorded')
         from webhooks.deliveries d left join webhooks.attempts a using (endpoint_key, sequence)
         where d.state not in ('delivered', 'exhausted') group by d.endpoint_key, d.sequence`,
    );

  async function ended(): Promise<void> {
    const open = await stillOpen();
    if (open.length > 0)
      throw new Error(
        `${open.length} payouts and deliveries have not come to their end: ${open.map(({ what }) => what).join('; ')}`,
      );
    for (const { id } of sales) {
      const { body } = await merchant.get(`/api/invoices/${id}`);
      if (body.status !== 'paid') throw new Error(`invoice ${id} was paid and is ${body.status}`);
    }
    const deadLetters = await quittance.db.rows(
      ['invoices', 'payouts', 'ledger', 'webhooks']
        .map((service) => `select '${service}' as at, kind, failure from ${service}.dead_letters`)
        .join(' union all '),
    );
    for (const one of deadLetters) broken.add(`an operator has to look at ${JSON.stringify(one)}`);
    const { discrepancies } = await quittance.books();
    if (discrepancies.length > 0)
      throw new Error(
        `the books do not balance: ${discrepancies.map(({ invariant, what }) => `${invariant} ${what}`).join('; ')}`,
      );
  }

  async function holdAgainstChain(): Promise<void> {
    for (const { asset, to, id, known } of asked) {
      const amount = unitsOf(asset, PAYOUT[asset]);
      const arrived = await customerOf(asset).balance(asset, to);
      if (known === 'accepted' && arrived !== amount)
        broken.add(`payout ${id} was accepted, ${to} has ${arrived}`);
      if (known === 'refused' && arrived !== 0n) broken.add(`a payout was refused, and ${to} has ${arrived}`);
      if (known === 'unknown' && arrived !== 0n && arrived !== amount)
        broken.add(`${to} was paid ${arrived}`);
    }
  }

  async function abandon(): Promise<void> {
    trading = false;
    await Promise.allSettled([mining.stop(), ...loops]);
    await receiver.close();
  }

  return {
    merchant,
    receiver,
    counts: (from) => ({
      accepted: count('accepted', from),
      refused: count('refused', from),
      unknown: count('unknown', from),
      sales: sales.length,
    }),
    complaints: () => [...broken],
    async nextAccepted(withinMs) {
      const before = count('accepted');
      await eventually(() => {
        if (count('accepted') > before) return;
        const dead = Object.entries(quittance.stack.services).filter(([, { pid }]) => pid === undefined);
        throw new Error(
          ['no payout is accepted', ...dead.map(([name]) => `${name} does not run`)].join(', '),
        );
      }, withinMs);
    },
    async finish() {
      trading = false;
      try {
        await Promise.all(loops);
        const { length: open } = await stillOpen();
        await eventually(ended, ENDS_WITHIN_MS + (open / ENDS_PER_SECOND) * 1_000, 500).catch(
          (error: unknown) => {
            throw new Error([`${open} were open, and now ${reason(error)}`, ...broken].join('; '), {
              cause: error,
            });
          },
        );
        await look();
        await Promise.all([holdAgainstChain(), compareWithWebhooks(quittance, merchant, receiver, broken)]);
      } finally {
        await abandon();
      }
      return [...broken];
    },
    abandon,
  };
}
