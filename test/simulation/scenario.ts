import { createInvoice } from '@quittance/invoices/operations/create-invoice';
import { requestPayout } from '@quittance/payouts/operations/request-payout';
import { invariants } from '@quittance/reconciliation/invariants';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { ExactJson } from '@quittance/shared/exact-json';
import { findKey } from '@quittance/shared/idempotency';
import type { AccountId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import type { ReorgFate } from './chain.ts';
import type { Process, SimService } from './process.ts';
import { networkFee, stepOf } from './services.ts';
import type { World } from './world.ts';

/** A merchant's wish to pay somebody, and all that he was answered. `unheard`: a 500, or nothing. */
export type Order = {
  account: AccountId;
  asset: AssetSymbol;
  amount: bigint;
  recipient: string;
  answers: ('accepted' | 'refused' | 'unavailable' | 'unheard')[];
  /** The payouts he was told of. */
  payoutIds: Set<string>;
};

export const ACCOUNTS = ['acc_first', 'acc_second'] as AccountId[];
const CLIENT_TIMEOUT_MS = 12_000;
const TRIES_MAX = 4;
const plots = ['in', 'in', 'in', 'in', 'out', 'out', 'out', 'out', 'out', 'both'] as const;
const CUSTOMERS = [1, 1, 1, 2] as const;
const CLIENTS = [1, 1, 1, 2] as const;
const STEPS = { least: 10, most: 12, each: 12 } as const;
const ROUNDS_MAX = 40;
const IDLE_LOOKS_PERCENT = 20;

/** What happens in one seed: merchants and customers do what they do while all goes wrong; then all is well again. */
export class Story {
  readonly #world: World;
  readonly orders: Order[] = [];
  readonly #clients: Promise<unknown>[] = [];
  #clientsLeft = 0;
  #isEngineWanted = true;
  #isScanWanted = true;
  #paysIn = true;
  #paysOut = true;
  #isVoidWanted = false;
  /** Workers whose step has not come to its end: when its process was killed, nobody has seen what it was to see. */
  readonly #unfinished = new Set<string>();
  #recipients = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** @returns what does not end, when something does not */
  async tell(): Promise<string[]> {
    const { chance } = this.#world;
    // Most stories are small: what goes wrong between many shows between two, and a small story is read in a minute.
    const plot = chance.oneOf(plots);
    const customers = plot === 'out' ? 0 : chance.oneOf(CUSTOMERS);
    const clients = plot === 'in' ? 0 : chance.oneOf(CLIENTS);
    for (let n = customers; n > 0; n--) this.#begin(() => this.#customer());
    for (let n = clients; n > 0; n--) this.#begin(() => this.#client());
    this.#paysIn = plot !== 'out' || chance.percent(10);
    this.#paysOut = plot !== 'in' || this.#world.sweepsAhead || chance.percent(10);
    this.#look();
    await this.#storm(customers + clients);
    return await this.#calm();
  }

  #begin(work: () => Promise<void>): void {
    this.#clientsLeft += 1;
    const done = async () => {
      await work();
      this.#clientsLeft -= 1;
    };
    this.#clients.push(done());
  }

  async #storm(actors: number): Promise<void> {
    const world = this.#world;
    const { chance, scheduler, chain } = world;
    const reorgsToDepth = chance.oneOf([0, 1, 1, 2, chain.minConfirmations + 1]);
    const isRough = chance.percent(40);
    for (let i = chance.between(STEPS.least, STEPS.most + STEPS.each * actors); i > 0; i--) {
      const wanted = this.#wanted();
      const roll = chance.below(100);
      if (wanted.length > 0 && roll < 72) this.#start(...chance.oneOf(wanted));
      else if (roll < 84) this.#changeChain(() => chain.mine(chance.oneOf([1, 1, 1, 2, 3])));
      else if (roll < 86 && isRough) this.#changeChain(() => chain.forgetPool());
      else if (roll < 88 && isRough) this.#changeChain(() => chain.mineOld());
      else if (roll < 90 && isRough) chain.setFees(chance.percent(50) ? 'high' : 'usual');
      else if (roll < 93 && reorgsToDepth > 0) {
        const fate = chance.oneOf<ReorgFate>(['pending', 'moved', 'forgotten', 'replaced']);
        const depth = chance.percent(50) ? reorgsToDepth : chance.between(1, reorgsToDepth);
        this.#changeChain(() => this.#reorganise(depth, fate));
        world.tell(world.outside, `reorganisation: ${fate}`);
      } else if (roll < 94 && isRough) this.#setBack();
      else if (roll < 95) this.#start(...this.#any());
      else if (roll < 97 && isRough) await this.#wait();
      else await scheduler.sleep(world.outside, chance.below(6_000));
      if (chance.percent(25)) await scheduler.sleep(world.outside, chance.below(1_500));
      else await scheduler.turn(world.outside);
      world.assertUsable();
    }
  }

  #reorganise(depth: number, fate: ReorgFate): void {
    const { chain, taken } = this.#world;
    const before = chain.truth();
    const stayed = chain.reorg(depth, fate);
    for (const { outpoint, height, confirmations } of before) {
      if (height > stayed) taken.set(outpoint, Math.max(taken.get(outpoint) ?? 0, confirmations));
    }
  }

  /** No block comes for a while: what waits for too long gets a higher fee. */
  async #wait(): Promise<void> {
    const { chance, scheduler, outside, chain } = this.#world;
    if (chance.percent(50)) chain.setFees('high');
    await scheduler.sleep(outside, chance.oneOf([60_000, 240_000, 1_500_000, 1_500_000]));
    this.#isEngineWanted = true;
  }

  /** A clock is put right, or wrong. */
  #setBack(): void {
    const { chance, processes } = this.#world;
    const process = chance.oneOf(processes);
    process.clockIsOffMs = chance.between(-60_000, 60_000);
    this.#world.tell(process, `its clock is off by ${process.clockIsOffMs} ms`);
  }

  #changeChain(change: () => void): void {
    change();
    this.#world.tell(this.#world.outside, `the chain is at ${this.#world.chain.height()}`);
    this.#look();
  }

  /** There may be something new for those who watch the chain, if anybody in this story has anything there. */
  #look(): void {
    this.#isEngineWanted = this.#paysOut;
    this.#isScanWanted = this.#paysIn;
  }

  /** What payouts took in may be what it needs to go on; when all is well the next block wakes it soon enough. */
  #wakeEngine(): void {
    if (!this.#world.weather.isCalm || this.#world.sweepsAhead) this.#isEngineWanted = this.#paysOut;
  }

  /** Those look who have something to end there. */
  #lookAfter(left: readonly string[]): void {
    const isOpen = left.includes(WAITS_FOR_A_BLOCK);
    this.#isEngineWanted = this.#paysOut && (isOpen || left.some((what) => PAYS_OUT.test(what)));
    this.#isScanWanted = this.#paysIn && (isOpen || left.some((what) => PAYS_IN.test(what)));
  }

  /** Who has something to do. */
  #wanted(): [SimService, string][] {
    const { isToRelay, bus } = this.#world;
    const wanted: [SimService, string][] = [];
    for (const service of ['invoices', 'payouts', 'ledger', 'webhooks'] as const) {
      if (isToRelay.has(service)) wanted.push([service, 'relay']);
      if (bus.hasFor(service)) wanted.push([service, 'consume']);
    }
    if (this.#isEngineWanted) wanted.push(['payouts', 'engine']);
    if (this.#isScanWanted) wanted.push(['invoices', 'scan']);
    if (this.#isVoidWanted) wanted.push(['payouts', 'void']);
    return wanted;
  }

  #any(): [SimService, string] {
    const process = this.#world.chance.oneOf(this.#world.processes);
    const names = [...process.replica.workers.keys()];
    return [process.service, this.#world.chance.oneOf(names)];
  }

  /** A step of some replica's worker, if it is not in the middle of one. */
  #start(service: SimService, worker: string): void {
    const able = this.#world.alive(service).filter((one) => !one.busy.has(worker) && !one.isStopped);
    if (able.length > 0) void this.#step(this.#world.chance.oneOf(able), worker);
  }

  async #step(process: Process, worker: string): Promise<void> {
    const world = this.#world;
    const step = process.replica.workers.get(worker);
    if (step === undefined) return;
    if (worker === 'engine') this.#isEngineWanted = false;
    if (worker === 'scan') this.#isScanWanted = false;
    if (worker === 'void') this.#isVoidWanted = false;
    process.busy.add(worker);
    this.#unfinished.add(worker);
    const { promise, resolve } = Promise.withResolvers<void>();
    world.spawn(process, worker, async () => {
      world.tell(process, `-- ${worker}`);
      let isAgain = true;
      try {
        const done = await step();
        this.#unfinished.delete(worker);
        // What it did need not be all; what is left shows with the next block.
        isAgain = done > 0 && world.chance.percent(20);
      } finally {
        process.busy.delete(worker);
        if (isAgain && worker === 'engine') this.#isEngineWanted = true;
        if (isAgain && worker === 'scan') this.#isScanWanted = true;
        if (worker === 'consume' && process.service === 'payouts') this.#wakeEngine();
        resolve();
      }
    });
    await promise;
  }

  /** What somebody outside asks a process over HTTP: its answer, its failure, or nothing in time. */
  async #call<T>(
    service: SimService,
    name: string,
    work: (process: Process) => Promise<T>,
  ): Promise<{ value: T } | { error: unknown } | undefined> {
    const world = this.#world;
    const { scheduler, chance, weather } = world;
    const able = world.alive(service);
    if (able.length === 0) return undefined;
    const process = chance.oneOf(able);
    const timer = new AbortController();
    let outcome: { value: T } | { error: unknown } | undefined;
    world.spawn(process, name, async () => {
      try {
        outcome = { value: await work(process) };
      } catch (error) {
        outcome = { error };
        throw error;
      } finally {
        timer.abort('answered');
      }
    });
    await scheduler.sleep(world.outside, CLIENT_TIMEOUT_MS, timer.signal);
    await scheduler.turn(world.outside);
    return weather.strikes('answer lost') ? undefined : outcome;
  }

  async #client(): Promise<void> {
    const world = this.#world;
    const { chance, scheduler, chain } = world;
    // Often two at once.
    await scheduler.sleep(world.outside, chance.percent(40) ? 0 : chance.below(5_000));
    const asset = chance.percent(70) ? (chain.assets[0] as AssetSymbol) : chance.oneOf(chain.assets);
    this.#recipients += 1;
    const order: Order = {
      account: chance.oneOf(ACCOUNTS),
      asset,
      // The second account has three units: some of it is beyond its balance.
      amount: chain.unit(asset) * BigInt(chance.between(1, 2)) + BigInt(chance.below(1_000)),
      recipient: chain.recipient(this.#recipients),
      answers: [],
      payoutIds: new Set(),
    };
    this.orders.push(order);
    if (chance.percent(6)) chain.refuseAt(order.recipient);
    const key = chance.percent(60) ? `key ${this.orders.length}` : undefined;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const answer = await this.#ask(order, key);
      order.answers.push(answer);
      world.tell(world.outside, `the client of ${order.recipient} hears: ${answer}`);
      if (answer === 'unavailable' || answer === 'unheard') this.#voidLater();
      if (answer === 'accepted' || answer === 'refused' || key === undefined) return;
      await scheduler.sleep(world.outside, chance.below(8_000));
    }
  }

  /** A request that nobody decided is given up after a while. */
  #voidLater(): void {
    const world = this.#world;
    const again = async () => {
      await world.scheduler.sleep(world.outside, 12_000);
      this.#isVoidWanted = true;
    };
    void again();
  }

  /** POST /api/payouts, as http.ts has it. */
  async #ask(order: Order, key: string | undefined): Promise<Order['answers'][number]> {
    const { account, asset, amount, recipient } = order;
    const world = this.#world;
    const named = key === undefined ? undefined : { account, key, bodyHash: recipient };
    const heard = await this.#call(
      'payouts',
      'POST /api/payouts',
      async (process): Promise<{ status: number; id?: string | undefined }> => {
        const ports = process.replica.payouts;
        if (ports === undefined) throw new Error('payouts takes payouts');
        const before = async () => {
          const known = named && (await findKey(ports.db, named));
          if (known?.state === 'answered') {
            const { data } = known.body as { data?: { id: number } };
            return { status: known.status, id: data === undefined ? undefined : String(data.id) };
          }
          return known === undefined ? undefined : { status: 409 };
        };
        const earlier = await before();
        if (earlier !== undefined) return earlier;
        const request = stepOf(world, 'payouts.request', process, requestPayout);
        const made = await request(ports, {
          account,
          asset,
          amount: units(amount),
          address: recipient,
          networkFee: units(networkFee(world, asset)),
          minConfirmations: world.chain.minConfirmations,
          returnsDeposit: null,
          requestId: `req_${order.recipient}`,
          key: named,
        });
        if (made.ok) {
          this.#isEngineWanted = true;
          return { status: 201, id: made.value };
        }
        if (made.refusal === 'key_taken') return (await before()) ?? { status: 409 };
        return { status: made.refusal === 'unavailable' ? 503 : 400 };
      },
    );
    if (heard === undefined) return 'unheard';
    if ('error' in heard) return 'unheard';
    const { status, id } = heard.value;
    switch (status) {
      case 201:
        order.payoutIds.add(String(id));
        return 'accepted';
      case 503:
        return 'unavailable';
      case 409:
        return 'unheard';
      default:
        return 'refused';
    }
  }

  async #customer(): Promise<void> {
    const world = this.#world;
    const { chance, scheduler, chain } = world;
    await scheduler.sleep(world.outside, chance.below(1_000));
    const asset = chance.percent(70) ? (chain.assets[0] as AssetSymbol) : chance.oneOf(chain.assets);
    const account = chance.oneOf(ACCOUNTS);
    const made = await createInvoiceOf(
      (work) => this.#call('invoices', 'POST /api/invoices', work),
      account,
      asset,
      chance.between(1, 3) * 10,
      chance.oneOf([1, 1, 5]),
    );
    if (made === undefined) return;
    const { address, due } = dueOf(world, made);
    await scheduler.sleep(world.outside, chance.below(3_000));
    const pay = (amount: bigint) => {
      const name = chain.pay({ asset, to: address, amount });
      world.tell(world.outside, `a customer pays ${amount} ${asset} to ${address}`);
      return name;
    };
    switch (
      chance.oneOf(['exact', 'exact', 'split', 'over', 'under', 'late', 'replaced', 'twice'] as const)
    ) {
      case 'exact':
        pay(due);
        break;
      case 'split':
        pay(due / 3n);
        await scheduler.sleep(world.outside, chance.below(30_000));
        pay(due - due / 3n);
        break;
      case 'over':
        pay(due + due / 4n);
        break;
      case 'under':
        pay(due - due / 4n);
        break;
      case 'late':
        await scheduler.sleep(world.outside, chance.below(180_000));
        pay(due);
        break;
      case 'replaced': {
        const first = pay(due);
        await scheduler.sleep(world.outside, chance.below(15_000));
        chain.replace(first);
        if (chance.percent(50)) pay(due);
        break;
      }
      case 'twice':
        pay(due);
        pay(due);
        break;
    }
  }

  /** All is well: whatever is under way ends, queues drain, blocks come. */
  async #calm(): Promise<string[]> {
    const world = this.#world;
    const { scheduler, weather, chain, bus } = world;
    weather.isCalm = true;
    world.tell(world.outside, '=== calm');
    chain.setFees('usual');
    for (const process of world.processes) {
      process.isStopped = false;
      process.clockIsOffMs = 0;
    }
    await Promise.all(this.#clients);
    // Longer than anybody waits for anything, and than a request is left undecided.
    await scheduler.sleep(world.outside, 30_000);
    bus.nextDay();
    this.#isVoidWanted = true;
    // Now and then somebody looks although there is nothing: that must change nothing.
    if (world.chance.percent(IDLE_LOOKS_PERCENT)) this.#look();
    this.#isEngineWanted ||= this.#paysOut && this.#unfinished.has('engine');
    this.#isScanWanted ||= this.#paysIn && this.#unfinished.has('scan');
    let left: string[] = [];
    for (let round = 0; round < ROUNDS_MAX; round++) {
      await this.#drain();
      left = whatIsLeft(world);
      if (left.length > 0) this.#lookAfter(left);
      if (left.includes(UNBOOKED)) await this.#one('ledger', 'reversals');
      const missing = left.length === 0 || round % 3 === 2 ? undelivered(world) : [];
      if (left.length === 0 && missing.length === 0) return [];
      if (missing.length > 0) {
        left.push(...missing);
        await scheduler.sleep(world.outside, 25_000);
        for (const service of ['invoices', 'payouts', 'ledger'] as const)
          await this.#one(service, 'reconcile');
        continue;
      }
      // What is paid too little waits until its invoice's time is over.
      if (left.includes(SEEN) && round > 1) {
        await scheduler.sleep(world.outside, 120_000);
        this.#changeChain(() => chain.mine(1));
        await this.#drain();
        await this.#one('invoices', 'expire');
        continue;
      }
      chain.mine(chain.settlesAfter);
      this.#lookAfter(left);
      await scheduler.sleep(world.outside, round < 6 ? 6_000 : 20_000);
    }
    return left.map((what) => `does not end: ${what}`);
  }

  /** Whoever has something to do does it, until nobody has. */
  async #drain(): Promise<void> {
    for (let i = 0; i < 80; i++) {
      const [next] = this.#wanted();
      if (next === undefined) return;
      await this.#one(...next);
      this.#world.assertUsable();
    }
  }

  async #one(service: SimService, worker: string): Promise<void> {
    const process = this.#world.alive(service).find((one) => one.place === 0 && !one.busy.has(worker));
    if (process === undefined) await this.#world.scheduler.sleep(this.#world.outside, 1_000);
    else await this.#step(process, worker);
  }
}

type Call = <T>(
  work: (process: Process) => Promise<T>,
) => Promise<{ value: T } | { error: unknown } | undefined>;

/** POST /api/invoices. The invoice's id, when one was made and the answer was heard. */
export async function createInvoiceOf(
  call: Call,
  account: AccountId,
  asset: AssetSymbol,
  dollars: number,
  minutes: number,
): Promise<string | undefined> {
  const heard = await call(async (process) => {
    const ports = process.replica.invoices;
    if (ports === undefined) throw new Error('invoices makes invoices');
    const body = { asset, amount: `${dollars}`, expires_in: `${minutes}` } as ExactJson;
    return await createInvoice(ports, { account, body, key: undefined, requestId: 'req_invoice' });
  });
  if (heard === undefined || 'error' in heard) return undefined;
  if (!heard.value.ok) throw new Error(`an invoice was refused: ${JSON.stringify(heard.value.refusal)}`);
  return (heard.value.value.body as { data: { id: string } }).data.id;
}

export function dueOf({ database }: World, invoice: string): { address: string; due: bigint } {
  const [row] = database.run(
    'invoices',
    'select address, amount_due from invoices where id = $1',
    [invoice],
    false,
  );
  return { address: row?.['address'] as string, due: BigInt(row?.['amount_due'] as string) };
}

const SEEN = 'a deposit is seen';
const WAITS_FOR_A_BLOCK = 'a transaction waits for a block';
const PAYS_OUT = /^(a|the settled) (payout|sweep|bump)/;
const PAYS_IN = /^(a deposit|the payment)/;
/** It came before its deposit: a worker of its own books it. */
const UNBOOKED = 'a reversal is not booked';

const LEFT = `
  select 'events wait in the outbox of invoices' as what from invoices.outbox where sent_at is null
  union all select 'events wait in the outbox of payouts' from payouts.outbox where sent_at is null
  union all select 'events wait in the outbox of the ledger' from ledger.outbox where sent_at is null
  union all select 'a payout is ' || status from payouts.payouts where status in ('requested', 'reserved', 'signed', 'broadcast')
  union all select 'a ' || purpose || ' is ' || state from payouts.transactions where state in ('signed', 'broadcast')
  union all select 'a deposit is ' || state from invoices.deposits
    where state in ('seen', 'missing') or (state = 'settled' and credited_at is null)
  union all select '${UNBOOKED}' from ledger.reversals where booked_at is null
  union all select 'invoices has parked a ' || kind from invoices.parked
  union all select 'payouts has parked a ' || kind from payouts.parked
  union all select 'the ledger has parked a ' || kind from ledger.parked
  union all select 'webhooks has parked a ' || kind from webhooks.parked`;

/** What has not come to its end, as far as the services know; and what they do not know yet of the chain. */
function whatIsLeft(world: World): string[] {
  const rows = [
    ...new Set(world.database.run('invoices', LEFT, [], false).map(({ what }) => what as string)),
  ];
  if (world.bus.waiting > 0) rows.push('messages wait for their acknowledgement');
  if (world.chain.isWaiting()) rows.push(WAITS_FOR_A_BLOCK);
  return rows.length > 0 ? rows : unknownOfChain(world);
}

/**
 * Payments to our addresses that invoices has not written down, and payments and payouts that left the chain. Whoever
 * was to see it may have looked while another replica had the lease.
 */
function unknownOfChain(world: World): string[] {
  const { chain, database } = world;
  const ours = new Set(
    database
      .run('invoices', 'select address from addresses', [], false)
      .map(({ address }) => address as string),
  );
  const known = new Set(
    database
      .run('invoices', `select outpoint from invoices.deposits where state in ('seen', 'settled')`, [], false)
      .map(({ outpoint }) => outpoint as string),
  );
  const truth = chain.truth();
  const missing = truth.filter(({ to, outpoint, isOurs }) => !isOurs && ours.has(to) && !known.has(outpoint));
  const there = new Set(truth.map(({ outpoint }) => outpoint));
  const gone = [...known].filter((outpoint) => !there.has(outpoint));
  const paid = new Set(truth.map(({ to }) => to));
  const unpaid = database
    .run('payouts', `select address from payouts.payouts where status = 'mined'`, [], false)
    .filter(({ address }) => !paid.has(address as string));
  return [
    ...missing.map(({ outpoint }) => `the payment ${outpoint} is not known`),
    ...gone.map((outpoint) => `the payment ${outpoint} is known and not in the chain`),
    ...unpaid.map(({ address }) => `the settled payout to ${String(address)} is not in the chain`),
  ];
}

const arrivals = invariants.find(({ number }) => number === 'I7')?.sql ?? '';

/** Services to whom an event has not come. */
function undelivered(world: World): string[] {
  return world.database.run('invoices', arrivals, [0], false).map(({ what }) => what as string);
}
