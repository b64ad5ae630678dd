import { drawActors, runPayer } from './actors.ts';
import type { Environment } from './environment.ts';
import { nothingAsked, repeatAll, runMerchant } from './merchant.ts';
import { runOperator } from './operator.ts';
import type { Process, SimService } from './process.ts';
import { drawReorganisations, type Reorganisation } from './reorganisations.ts';
import { payTooLate } from './unresolved-client.ts';
import {
  PAYS_IN,
  PAYS_OUT,
  SEEN,
  UNBOOKED,
  UNDECIDED,
  undelivered,
  WAITS_FOR_A_BLOCK,
  whatIsLeft,
} from './what-is-left.ts';

const STEPS = { least: 10, most: 12, each: 12 } as const;
const ROUNDS_MAX = 40;
const IDLE_LOOKS_PERCENT = 20;

/** Who is told when there may be something to do, in the order in which it is done when all is well. */
const DUE = [
  ['engine', 'payouts'],
  ['scan', 'invoices'],
  ['void', 'payouts'],
  ['automatic', 'payouts'],
] as const;
type Due = (typeof DUE)[number][0];

/** What happens in one seed: merchants and customers do what they do while all goes wrong; then all is well again. */
export class Scenario {
  readonly #environment: Environment;
  readonly asked = nothingAsked();
  readonly #clients: Promise<unknown>[] = [];
  /** Workers that may have something to do. */
  readonly #due = new Set<Due>();
  #paysIn = true;
  #paysOut = true;
  /** Workers whose step has not come to its end: when its process was killed, nobody has seen what it was to see. */
  readonly #unfinished = new Set<string>();
  #recipients = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** @returns what does not end, or else what clients who ask again hear wrong */
  async run(): Promise<string[]> {
    const { chance } = this.#environment;
    const late = await payTooLate(this.#environment, (...step) =>
      this.#one(...step).then(() => this.#drain()),
    );
    if (late.length > 0) return late;
    const { flow, customers, clients } = drawActors(this.#environment);
    for (let n = customers; n > 0; n--) this.#begin(() => runPayer(this.#environment, this.asked));
    for (let n = clients; n > 0; n--) this.#begin(() => this.#client());
    if (this.#environment.hasChoices && clients > 0 && chance.percent(70))
      this.#begin(() =>
        runOperator(this.#environment, this.asked.pauses, () => void this.#due.add('engine')),
      );
    this.#paysIn = flow !== 'out' || chance.percent(10);
    this.#paysOut = flow !== 'in' || this.#environment.sweepsAhead || chance.percent(10);
    this.#look();
    await this.#storm(customers + clients);
    const left = await this.#quiesce();
    return left.length > 0 ? left : await repeatAll(this.#environment, this.asked);
  }

  #begin(work: () => Promise<void>): void {
    this.#clients.push(work());
  }

  async #storm(actors: number): Promise<void> {
    const environment = this.#environment;
    const { chance, scheduler, chain } = environment;
    const reorganisation = drawReorganisations(environment);
    const isRough = chance.percent(40);
    for (let i = chance.between(STEPS.least, STEPS.most + STEPS.each * actors); i > 0; i--) {
      const wanted = this.#wanted();
      const roll = chance.below(100);
      if (wanted.length > 0 && roll < 72) this.#start(...chance.oneOf(wanted));
      else if (roll < 84) this.#changeChain(() => chain.mine(chance.oneOf([1, 1, 1, 2, 3])));
      else if (roll < 86 && isRough) this.#changeChain(() => chain.forgetPool());
      else if (roll < 88 && isRough) this.#changeChain(() => chain.mineOld());
      else if (roll < 90 && isRough) chain.setFees(chance.percent(50) ? 'high' : 'usual');
      else if (roll < 93 && reorganisation !== undefined) {
        const drawn = reorganisation();
        this.#changeChain(() => this.#reorganise(drawn));
        environment.tell(environment.outside, `reorganisation: ${drawn.fate}`);
      } else if (roll < 94 && isRough) this.#setBack();
      else if (roll < 95) this.#start(...this.#any());
      else if (roll < 97 && isRough) await this.#wait();
      else await scheduler.sleep(environment.outside, chance.below(6_000));
      if (chance.percent(25)) await scheduler.sleep(environment.outside, chance.below(1_500));
      else await scheduler.turn(environment.outside);
      environment.assertUsable();
    }
  }

  #reorganise({ depth, fate }: Reorganisation): void {
    const { chain, taken } = this.#environment;
    const before = chain.truth();
    const stayed = chain.reorg(depth, fate);
    for (const { outpoint, height, confirmations } of before) {
      if (height > stayed) taken.set(outpoint, Math.max(taken.get(outpoint) ?? 0, confirmations));
    }
  }

  /** No block comes for a while: what waits for too long gets a higher fee. */
  async #wait(): Promise<void> {
    const { chance, scheduler, outside, chain } = this.#environment;
    if (chance.percent(50)) chain.setFees('high');
    await scheduler.sleep(outside, chance.oneOf([60_000, 240_000, 1_500_000, 1_500_000]));
    this.#due.add('engine');
  }

  /** A clock is put right, or wrong. */
  #setBack(): void {
    const { chance, processes } = this.#environment;
    const process = chance.oneOf(processes);
    process.clockIsOffMs = chance.between(-60_000, 60_000);
    this.#environment.tell(process, `its clock is off by ${process.clockIsOffMs} ms`);
  }

  #changeChain(change: () => void): void {
    change();
    this.#environment.tell(this.#environment.outside, `the chain is at ${this.#environment.chain.height()}`);
    this.#look();
  }

  #let(worker: Due, isDue: boolean): void {
    if (isDue) this.#due.add(worker);
    else this.#due.delete(worker);
  }

  /** There may be something new for those who watch the chain, if anybody in this scenario has anything there. */
  #look(): void {
    this.#let('engine', this.#paysOut);
    this.#let('scan', this.#paysIn);
  }

  /** What payouts processed may be what it needs to continue; when all is well the next block wakes it soon enough. */
  #wakeEngine(): void {
    if (!this.#environment.faults.isQuiesced || this.#environment.sweepsAhead)
      this.#let('engine', this.#paysOut);
  }

  /** Those look who have something to end there. */
  #lookAfter(left: readonly string[]): void {
    const isOpen = left.includes(WAITS_FOR_A_BLOCK);
    this.#let('engine', this.#paysOut && (isOpen || left.some((what) => PAYS_OUT.test(what))));
    this.#let('scan', this.#paysIn && (isOpen || left.some((what) => PAYS_IN.test(what))));
    if (left.some((what) => UNDECIDED.test(what))) this.#due.add('void');
  }

  /** Who has something to do. */
  #wanted(): [SimService, string][] {
    const { isToRelay, bus } = this.#environment;
    const wanted: [SimService, string][] = [];
    for (const service of ['invoices', 'payouts', 'ledger', 'webhooks'] as const) {
      if (isToRelay.has(service)) wanted.push([service, 'relay']);
      if (bus.hasFor(service)) wanted.push([service, 'consume']);
    }
    for (const [worker, service] of DUE) if (this.#due.has(worker)) wanted.push([service, worker]);
    return wanted;
  }

  #any(): [SimService, string] {
    const { processes, chance } = this.#environment;
    const { service, replica } = chance.oneOf(processes.filter((one) => one.replica.workers.size > 0));
    return [service, chance.oneOf([...replica.workers.keys()])];
  }

  /** A step of some replica's worker, if it is not in the middle of one. */
  #start(service: SimService, worker: string): void {
    const able = this.#environment.alive(service).filter((one) => !one.busy.has(worker) && !one.isStopped);
    if (able.length > 0) void this.#step(this.#environment.chance.oneOf(able), worker);
  }

  async #step(process: Process, worker: string): Promise<void> {
    const environment = this.#environment;
    const step = process.replica.workers.get(worker);
    if (step === undefined) return;
    this.#due.delete(worker as Due);
    process.busy.add(worker);
    this.#unfinished.add(worker);
    const { promise, resolve } = Promise.withResolvers<void>();
    environment.spawn(process, worker, async () => {
      environment.tell(process, `-- ${worker}`);
      let isAgain = true;
      try {
        const done = await step();
        this.#unfinished.delete(worker);
        // What it did need not be all; what is left shows with the next block.
        isAgain = done > 0 && environment.chance.percent(20);
      } finally {
        process.busy.delete(worker);
        // A payout of a rule is signed like any other.
        if (worker === 'automatic') this.#due.add('engine');
        if (isAgain && (worker === 'engine' || worker === 'scan')) this.#due.add(worker);
        if (worker === 'consume' && process.service === 'payouts') this.#wakeEngine();
        resolve();
      }
    });
    await promise;
  }

  async #client(): Promise<void> {
    const { chain } = this.#environment;
    const newRecipient = () => {
      this.#recipients += 1;
      return chain.recipient(this.#recipients);
    };
    const listeners = {
      onPayout: () => void this.#due.add('engine'),
      onUndecided: (afterMs: number) => this.#voidLater(afterMs),
      onRule: () => this.#start('payouts', 'automatic'),
    };
    await runMerchant(this.#environment, this.asked, newRecipient, listeners);
  }

  /** A request that nobody decided is given up after a while. */
  #voidLater(afterMs: number): void {
    const environment = this.#environment;
    const again = async () => {
      await environment.scheduler.sleep(environment.outside, afterMs);
      this.#due.add('void');
    };
    void again();
  }

  /** All is well: whatever is in flight ends, queues drain, blocks come. */
  async #quiesce(): Promise<string[]> {
    const environment = this.#environment;
    const { scheduler, faults, chain, bus } = environment;
    faults.isQuiesced = true;
    environment.tell(environment.outside, '=== quiesced');
    chain.setFees('usual');
    for (const process of environment.processes) {
      process.isStopped = false;
      process.clockIsOffMs = 0;
    }
    await Promise.all(this.#clients);
    // Longer than anybody waits for anything, and than a request is left undecided.
    await scheduler.sleep(environment.outside, 30_000);
    bus.nextDay();
    this.#due.add('void');
    this.#let('automatic', environment.hasLateFunds);
    // Now and then somebody looks although there is nothing: that must change nothing.
    if (environment.chance.percent(IDLE_LOOKS_PERCENT)) this.#look();
    if (this.#paysOut && this.#unfinished.has('engine')) this.#due.add('engine');
    if (this.#paysIn && this.#unfinished.has('scan')) this.#due.add('scan');
    let left: string[] = [];
    for (let round = 0; round < ROUNDS_MAX; round++) {
      await this.#drain();
      left = whatIsLeft(environment);
      if (left.length > 0) this.#lookAfter(left);
      if (left.includes(UNBOOKED)) await this.#one('ledger', 'reversals');
      const missing = left.length === 0 || round % 3 === 2 ? undelivered(environment) : [];
      if (left.length === 0 && missing.length === 0) return [];
      if (missing.length > 0) {
        left.push(...missing);
        await scheduler.sleep(environment.outside, 25_000);
        for (const service of ['invoices', 'payouts', 'ledger'] as const)
          await this.#one(service, 'reconcile');
        continue;
      }
      // What is paid too little waits until its invoice's time is over.
      if (left.includes(SEEN) && round > 1) {
        await scheduler.sleep(environment.outside, 120_000);
        this.#changeChain(() => chain.mine(chain.settlesAfter));
        await this.#drain();
        await this.#one('invoices', 'expire');
        continue;
      }
      chain.mine(chain.settlesAfter);
      this.#lookAfter(left);
      await scheduler.sleep(environment.outside, round < 6 ? 6_000 : 20_000);
    }
    return left.map((what) => `does not end: ${what}`);
  }

  /** Whoever has something to do does it, until nobody has. */
  async #drain(): Promise<void> {
    for (let i = 0; i < 80; i++) {
      const [next] = this.#wanted();
      if (next === undefined) return;
      await this.#one(...next);
      this.#environment.assertUsable();
    }
  }

  async #one(service: SimService, worker: string): Promise<void> {
    const process = this.#environment.alive(service).find((one) => one.place === 0 && !one.busy.has(worker));
    if (process === undefined) await this.#environment.scheduler.sleep(this.#environment.outside, 1_000);
    else await this.#step(process, worker);
  }
}
