import type { ChainKind } from '@quittance/shared/assets';
import type { Service } from '@quittance/shared/events';
import { drawIdsFrom } from '@quittance/shared/ids';
import { reason } from '@quittance/shared/logger';
import { createBitcoinChain } from './bitcoin-chain.ts';
import { SimBus } from './bus.ts';
import type { SimChain } from './chain.ts';
import { Chance } from './chance.ts';
import { RunAgain, type SimDatabase } from './database.ts';
import { createEvmChain } from './evm-chain.ts';
import { FaultInjector } from './faults.ts';
import type { Wiring } from './mutant.ts';
import { type Process, REPLICAS, type Replica, type SimService } from './process.ts';
import { BEGINNING, type Owner, Scheduler } from './scheduler.ts';
import { createSolanaChain } from './solana-chain.ts';

const RESTART_MS = 4_000;
/** A little longer than `outbox_claim` says. */
export const CLAIM_MS = 6_100;
const STOPPED_MAX_MS = 120_000;
/**
 * Which seeds have extras: among so many these. No seed that showed a mutant before there were extras is one of them, so it
 * takes the same steps and shows the same.
 */
const EXTRAS: { among: number; of: readonly number[] } = { among: 13, of: [9, 12] };
/** In the same way, seeds whose payers choose assets and follow links, and where an operator pauses payouts. */
const CHOICES: typeof EXTRAS = { among: 17, of: [6, 9] };
/** And seeds with funds that came too late, which merchants accept or return, and with automatic payouts. */
const LATE_FUNDS: typeof EXTRAS = { among: 19, of: [14] };
/** The prologue, which is the same for all seeds, draws from here. */
const PROLOGUE_SEED = 0x5eed;

export type EnvironmentOptions = {
  database: SimDatabase;
  kind: ChainKind;
  seed: number;
  wiring: Wiring;
  /** Wires a process as its service's `service.ts` does. `name` is one that no process had before. */
  startReplica: (environment: Environment, process: Process, name: string) => Replica;
  /** Gets a line for every step, when somebody wants to read them. */
  tell?: ((line: string) => void) | undefined;
  /** Nothing goes wrong. */
  isFair?: boolean;
};

type Open = { readonly isOpen: boolean; commit(): void; rollback(): void };

const chains = {
  bitcoin: createBitcoinChain,
  evm: createEvmChain,
  solana: createSolanaChain,
} as const;

/** Everything there is in one seed. */
export class Environment {
  readonly database: SimDatabase;
  readonly wiring: Wiring;
  readonly kind: ChainKind;
  readonly scheduler: Scheduler;
  readonly faults: FaultInjector;
  readonly bus: SimBus;
  readonly chain: SimChain;
  readonly processes: Process[] = [];
  /** What stands in no process: the scenario, customers, clients. */
  readonly outside: Owner = { name: 'story', isAlive: true, isStopped: false };
  /** Services whose outbox has something to carry. */
  readonly isToRelay = new Set<Service>();
  /** The payments that reorganisations took, and how many confirmations each had at most when its block was gone. */
  readonly taken = new Map<string, number>();
  /** Defects that production code itself has met. */
  readonly defects: string[] = [];
  readonly never = new Promise<never>(() => {});
  readonly isTold: boolean;
  chance: Chance;
  /** Merchants cancel payouts, send batches and refund invoices. In other seeds each pays by himself. */
  readonly hasExtras: boolean;
  /** Payers choose assets and follow links, and an operator pauses payouts. */
  readonly hasChoices: boolean;
  /** Merchants accept and return funds that came too late, and set up automatic payouts. */
  readonly hasLateFunds: boolean;
  /** Payouts sweeps deposits before anybody needs them. */
  sweepsAhead = false;
  open: { process: Process; close: () => void; closed: Promise<void> } | undefined;
  #hash = 0x811c9dc5;
  #started = 0;
  readonly #startReplica: EnvironmentOptions['startReplica'];
  readonly #tell: ((line: string) => void) | undefined;
  #abort: RunAgain | undefined;

  constructor({ database, kind, seed, wiring, startReplica, tell, isFair = false }: EnvironmentOptions) {
    this.database = database;
    this.wiring = wiring;
    this.kind = kind;
    this.#startReplica = startReplica;
    this.#tell = tell;
    this.isTold = tell !== undefined;
    this.chance = new Chance(PROLOGUE_SEED);
    this.#chainsChance = new Chance(PROLOGUE_SEED);
    const chance = new Chance(seed);
    this.hasExtras = EXTRAS.of.includes(seed % EXTRAS.among);
    this.hasChoices = CHOICES.of.includes(seed % CHOICES.among);
    this.hasLateFunds = LATE_FUNDS.of.includes(seed % LATE_FUNDS.among);
    this.scheduler = new Scheduler(chance, BEGINNING, (who, what) => this.#note(who, what));
    this.faults = new FaultInjector(chance, isFair);
    this.bus = new SimBus(this);
    this.chain = chains[kind]({
      random: () => this.#chainsChance.fraction(),
      now: () => new Date(this.scheduler.now),
    }) as SimChain;
    drawIdsFrom({
      clock: { now: () => new Date(this.scheduler.now) },
      random: (size) => this.chance.bytes(size),
    });
    this.#seeded = chance;
  }

  readonly #seeded: Chance;
  #chainsChance: Chance;

  /** The prologue is over: from here on everything follows from the seed. */
  beginScenario(): void {
    this.chance = this.#seeded;
    this.#chainsChance = this.#seeded;
  }

  /** All that happened, in a number. */
  get hash(): number {
    return this.#hash >>> 0;
  }

  startAll(): void {
    for (const [service, replicas] of Object.entries(REPLICAS)) {
      for (let place = 0; place < replicas; place++) this.start(service as SimService, place);
    }
  }

  start(service: SimService, place: number): Process {
    this.#started += 1;
    const process: Process = {
      name: `${service}.${place}`,
      service,
      place,
      isAlive: true,
      isStopped: false,
      answers: new Map(),
      clockIsOffMs: 0,
      busy: new Set(),
      replica: undefined as never,
    };
    process.replica = this.#startReplica(this, process, `${process.name}#${this.#started}`);
    this.processes.push(process);
    return process;
  }

  alive(service: Service): Process[] {
    return this.processes.filter((one) => one.isAlive && one.service === service);
  }

  /** A process gets here before everything it does to the world, and after; it may be its end. */
  async step(process: Process, what?: string): Promise<void> {
    if (this.strikesDown(process)) return await this.never;
    if (this.faults.strikes('stopped')) this.stop(process, this.chance.below(STOPPED_MAX_MS));
    await this.scheduler.turn(process);
    if (what !== undefined) this.tell(process, what);
  }

  strikesDown(process: Process): boolean {
    if (!process.isAlive) return true;
    if (!this.faults.strikes('killed')) return false;
    this.kill(process);
    return true;
  }

  kill(process: Process): void {
    if (!process.isAlive) return;
    this.tell(process, 'KILLED');
    this.scheduler.forget(process);
    if (this.open?.process === process) {
      this.database.rollback();
      this.#closed();
    }
    this.processes.splice(this.processes.indexOf(process), 1);
    const { service, place } = process;
    // What it had claimed and was about to do is left to others, when they look again.
    this.relayLater(service);
    const again = async () => {
      await this.scheduler.sleep(this.outside, this.faults.isQuiesced ? 0 : this.chance.below(RESTART_MS));
      this.start(service, place);
    };
    void again();
  }

  /** What a relay had claimed is free again after six seconds. */
  relayLater(service: Service): void {
    const again = async () => {
      await this.scheduler.sleep(this.outside, CLAIM_MS);
      this.isToRelay.add(service);
    };
    void again();
  }

  stop(process: Process, ms: number): void {
    if (process.isStopped) return;
    this.tell(process, `STOPPED for ${ms} ms`);
    process.isStopped = true;
    const again = async () => {
      await this.scheduler.sleep(this.outside, ms);
      process.isStopped = false;
    };
    void again();
  }

  openTransaction(process: Process): Open {
    this.database.begin();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.open = { process, close: resolve, closed: promise };
    const mine = this.open;
    const isOpen = () => this.open === mine;
    return {
      get isOpen() {
        return isOpen();
      },
      commit: () => {
        this.database.commit();
        this.#closed();
      },
      rollback: () => {
        this.database.rollback();
        this.#closed();
      },
    };
  }

  #closed(): void {
    const closed = this.open;
    this.open = undefined;
    closed?.close();
  }

  async untilClosed(process: Process): Promise<void> {
    await this.open?.closed;
    await this.scheduler.turn(process);
  }

  /** Starts a fiber of a process. What it throws is logged, as production does. */
  spawn(process: Process, name: string, work: () => Promise<unknown>): void {
    const fiber = async () => {
      await this.scheduler.turn(process);
      try {
        await work();
      } catch (error) {
        this.caught(process, name, error);
      }
    };
    void fiber();
  }

  caught(process: Process, name: string, error: unknown): void {
    if (error instanceof RunAgain) this.#abort = error;
    const why = reason(error);
    this.tell(process, `${name} failed: ${why}`);
    if (/invariant broken/.test(why)) this.defects.push(`${process.name} ${name}: ${why}`);
  }

  /** Throws what makes this seed worth nothing. */
  assertUsable(): void {
    if (this.#abort !== undefined) throw this.#abort;
  }

  tell(owner: Owner, what: string): void {
    this.#note(owner.name, what);
  }

  #note(who: string, what: string): void {
    let hash = this.#hash;
    for (let i = 0; i < who.length; i++) hash = Math.imul(hash ^ who.charCodeAt(i), 0x01000193);
    for (let i = 0; i < what.length; i++) hash = Math.imul(hash ^ what.charCodeAt(i), 0x01000193);
    this.#hash = Math.imul(hash ^ this.scheduler.now, 0x01000193);
    if (this.#tell === undefined) return;
    const seconds = ((this.scheduler.now - BEGINNING) / 1000).toFixed(3).padStart(9);
    this.#tell(`${seconds} ${who.padEnd(10)} ${what}`);
  }
}
