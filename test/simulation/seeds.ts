import { configureAssets } from '@quittance/ledger/store/quotes';
import type { AssetSymbol, ChainKind } from '@quittance/shared/assets';
import type { AccountId } from '@quittance/shared/ids';
import { ACCOUNTS } from './accounts.ts';
import { createInvoiceOf, dueOf } from './customer.ts';
import { RunAgain, SimDatabase } from './database.ts';
import type { Fault } from './faults.ts';
import { emptyWiring, type Wiring } from './mutant.ts';
import { HOT_UNITS, verdict } from './oracle.ts';
import { databaseOf } from './ports.ts';
import type { Process } from './process.ts';
import { Scenario } from './scenario.ts';
import { Stuck } from './scheduler.ts';
import { startReplica } from './services.ts';
import { World } from './world.ts';

export type Outcome = {
  seed: number;
  violations: string[];
  /** All that happened, in a number: the same for the same seed, everywhere. */
  hash: number;
  statements: number;
  turns: number;
  struck: ReadonlyMap<Fault, number>;
};

export type SeedOptions = {
  wiring?: Wiring;
  tell?: (line: string) => void;
  isFair?: boolean;
  doubts?: boolean;
};

/** What every scenario of one kind of chain begins with: merchants with money in their balances, and a funded hot wallet. */
type Prologue = {
  payments: { asset: AssetSymbol; to: string; amount: bigint }[];
  paidAt: number;
  endsAt: number;
};

const AGAIN_MAX = 5;
/** So many dollars each account got before the scenario: ten are a unit. */
const DEPOSITS: readonly { account: AccountId; asset: 0 | 1; dollars: number }[] = [
  { account: ACCOUNTS[0] as AccountId, asset: 0, dollars: 100 },
  { account: ACCOUNTS[1] as AccountId, asset: 0, dollars: 30 },
  { account: ACCOUNTS[0] as AccountId, asset: 1, dollars: 50 },
];
const VACUUM_EVERY = 300;

/** Runs seeds of one kind of chain, one after the other, in a database of its own. */
export class Seeds {
  readonly #database: SimDatabase;
  readonly kind: ChainKind;
  readonly #prologue: Prologue;
  #run = 0;

  private constructor(database: SimDatabase, kind: ChainKind, prologue: Prologue) {
    this.#database = database;
    this.kind = kind;
    this.#prologue = prologue;
  }

  /** In the database of seeds that are run no more, if there are such: to make one takes as long as a hundred scenarios. */
  static async open(kind: ChainKind, before?: Seeds): Promise<Seeds> {
    const database = before === undefined ? await SimDatabase.open() : before.#database;
    if (before !== undefined) await database.empty();
    const prologue = await tellPrologue(database, kind);
    await database.keepAsTemplate();
    await database.vacuum();
    return new Seeds(database, kind, prologue);
  }

  async run(seed: number, options: SeedOptions = {}): Promise<Outcome> {
    this.#run += 1;
    if (this.#run % VACUUM_EVERY === 0) await this.#database.vacuum();
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(seed, options);
      } catch (error) {
        if (!(error instanceof RunAgain) || tries === AGAIN_MAX) throw error;
      }
    }
  }

  async #once(
    seed: number,
    { wiring = emptyWiring(), tell, isFair = false, doubts = false }: SeedOptions,
  ): Promise<Outcome> {
    const database = this.#database;
    database.doubts = doubts;
    const world = new World({ database, kind: this.kind, seed, wiring, startReplica, tell, isFair });
    database.beginSeed();
    try {
      fund(world);
      world.scheduler.jumpTo(this.#prologue.paidAt);
      for (const payment of this.#prologue.payments) world.chain.pay(payment);
      bury(world);
      world.scheduler.jumpTo(this.#prologue.endsAt);
      world.beginScenario();
      world.sweepsAhead = world.chance.percent(15);
      world.startAll();
      const scenario = new Scenario(world);
      let violations: string[];
      try {
        const ended = scenario.run();
        await world.scheduler.run(ended);
        violations = [...(await ended), ...verdict(world, scenario.orders)];
      } catch (error) {
        world.assertUsable();
        if (!(error instanceof Stuck)) throw error;
        violations = [`does not end: ${error.message}`];
      }
      for (const violation of violations) world.tell(world.outside, `VIOLATION ${violation}`);
      const { hash, faults, scheduler } = world;
      return {
        seed,
        violations,
        hash,
        statements: database.statements,
        turns: scheduler.turns,
        struck: faults.struck,
      };
    } finally {
      for (const process of world.processes) process.isAlive = false;
      database.endSeed();
    }
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

function fund({ chain }: World): void {
  for (const asset of chain.assets) chain.fundHot(asset, chain.unit(asset) * HOT_UNITS);
  chain.mine(1);
}

/** Deep enough for every kind of chain: Solana's blocks are final when four stand on them. */
const bury = ({ chain }: World): void => chain.mine(chain.minConfirmations + 4);

async function tellPrologue(database: SimDatabase, kind: ChainKind): Promise<Prologue> {
  const world = new World({
    database,
    kind,
    seed: 0,
    wiring: emptyWiring(),
    startReplica,
    isFair: true,
  });
  database.beginSeed();
  fund(world);
  let prologue: Prologue | undefined;
  const scenario = async () => {
    const { chain, scheduler, outside } = world;
    world.startAll();
    const [invoices] = world.alive('invoices') as [Process];
    const [ledger] = world.alive('ledger') as [Process];
    const confirmations = new Map(chain.assets.map((asset) => [asset, chain.minConfirmations]));
    await configureAssets(databaseOf(world, ledger), chain.assets, confirmations);
    await invoices.replica.workers.get('refill')?.();
    const payments: Prologue['payments'] = [];
    for (const { account, asset: n, dollars } of DEPOSITS) {
      const asset = chain.assets[n];
      if (asset === undefined) continue;
      const made = await createInvoiceOf(
        async (work) => ({ value: await work(invoices) }),
        account,
        asset,
        dollars,
        60,
      );
      if (made === undefined) throw new Error('the prologue makes invoices');
      const { address, due } = dueOf(world, made);
      payments.push({ asset, to: address, amount: due });
    }
    const paidAt = scheduler.now;
    for (const payment of payments) chain.pay(payment);
    bury(world);
    await allQuiet(world);
    await scheduler.sleep(outside, 60_000);
    prologue = { payments, paidAt, endsAt: scheduler.now };
  };
  await world.scheduler.run(scenario());
  const broken = verdict(world, []);
  if (prologue === undefined || broken.length > 0)
    throw new Error(`the prologue ends badly: ${broken.join('; ')}`);
  return prologue;
}

/** Every worker but the engine's steps until none has anything to do. */
async function allQuiet(world: World): Promise<void> {
  for (let done = 1; done > 0; ) {
    done = 0;
    for (const process of world.processes.filter(({ place }) => place === 0)) {
      for (const [name, step] of process.replica.workers) {
        if (name !== 'engine' && name !== 'reconcile') done += await step();
      }
    }
  }
}
