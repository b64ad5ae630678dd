import { configureAssets } from '@quittance/ledger/store/quotes';
import type { AssetSymbol, ChainKind } from '@quittance/shared/assets';
import type { AccountId } from '@quittance/shared/ids';
import { ACCOUNTS } from './accounts.ts';
import { createInvoiceOf, dueOf } from './customer.ts';
import { RunAgain, SimDatabase } from './database.ts';
import { Environment } from './environment.ts';
import type { Fault } from './faults.ts';
import { nothingAsked } from './merchant.ts';
import { emptyWiring, type Wiring } from './mutant.ts';
import { HOT_UNITS, outcome } from './oracle.ts';
import { databaseOf } from './ports.ts';
import type { Process } from './process.ts';
import { Scenario } from './scenario.ts';
import { Stuck } from './scheduler.ts';
import { startReplica } from './services.ts';
import type { PostgresCode } from './stored-database.ts';

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
  static async open(kind: ChainKind, before?: Seeds, code?: PostgresCode): Promise<Seeds> {
    const database = before === undefined ? await SimDatabase.open(code) : before.#database;
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
      this.#database.unparsed.clear();
      const ran = await this.#once(seed, options).then(
        (outcome) => ({ outcome }),
        (error: unknown) => ({ error }),
      );
      // Whatever failed afterwards follows from this.
      const [unparsed] = this.#database.unparsed;
      if (unparsed !== undefined) throw new Error(unparsed);
      if ('outcome' in ran) return ran.outcome;
      if (!(ran.error instanceof RunAgain) || tries === AGAIN_MAX) throw ran.error;
    }
  }

  async #once(
    seed: number,
    { wiring = emptyWiring(), tell, isFair = false, doubts = false }: SeedOptions,
  ): Promise<Outcome> {
    const database = this.#database;
    database.doubts = doubts;
    const environment = new Environment({
      database,
      kind: this.kind,
      seed,
      wiring,
      startReplica,
      tell,
      isFair,
    });
    database.beginSeed();
    try {
      fund(environment);
      environment.scheduler.jumpTo(this.#prologue.paidAt);
      for (const payment of this.#prologue.payments) environment.chain.pay(payment);
      confirm(environment);
      environment.scheduler.jumpTo(this.#prologue.endsAt);
      environment.beginScenario();
      environment.sweepsAhead = environment.chance.percent(15);
      environment.startAll();
      const scenario = new Scenario(environment);
      let violations: string[];
      try {
        const ended = scenario.run();
        await environment.scheduler.run(ended);
        violations = [...(await ended), ...(await outcome(environment, scenario.asked))];
      } catch (error) {
        environment.assertUsable();
        if (!(error instanceof Stuck)) throw error;
        violations = [`does not end: ${error.message}`];
      }
      for (const violation of violations) environment.tell(environment.outside, `VIOLATION ${violation}`);
      const { hash, faults, scheduler } = environment;
      return {
        seed,
        violations,
        hash,
        statements: database.statements,
        turns: scheduler.turns,
        struck: faults.struck,
      };
    } finally {
      for (const process of environment.processes) process.isAlive = false;
      database.endSeed();
    }
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

function fund({ chain }: Environment): void {
  for (const asset of chain.assets) chain.fundHot(asset, chain.unit(asset) * HOT_UNITS);
  chain.mine(1);
}

/** Deep enough for every kind of chain: Solana's blocks are final when four stand on them. */
const confirm = ({ chain }: Environment): void => chain.mine(chain.minConfirmations + 4);

async function tellPrologue(database: SimDatabase, kind: ChainKind): Promise<Prologue> {
  const environment = new Environment({
    database,
    kind,
    seed: 0,
    wiring: emptyWiring(),
    startReplica,
    isFair: true,
  });
  database.beginSeed();
  fund(environment);
  let prologue: Prologue | undefined;
  const scenario = async () => {
    const { chain, scheduler, outside } = environment;
    environment.startAll();
    const [invoices] = environment.alive('invoices') as [Process];
    const [ledger] = environment.alive('ledger') as [Process];
    const confirmations = new Map(chain.assets.map((asset) => [asset, chain.minConfirmations]));
    await configureAssets(databaseOf(environment, ledger), chain.assets, confirmations);
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
      const { address, due } = dueOf(environment, made);
      payments.push({ asset, to: address, amount: due });
    }
    const paidAt = scheduler.now;
    for (const payment of payments) chain.pay(payment);
    confirm(environment);
    await allQuiet(environment);
    await scheduler.sleep(outside, 60_000);
    prologue = { payments, paidAt, endsAt: scheduler.now };
  };
  await environment.scheduler.run(scenario());
  const broken = await outcome(environment, nothingAsked());
  if (prologue === undefined || broken.length > 0)
    throw new Error(`the prologue ends badly: ${broken.join('; ')}`);
  return prologue;
}

/** Every worker but the engine's steps until none has anything to do. */
async function allQuiet(environment: Environment): Promise<void> {
  for (let done = 1; done > 0; ) {
    done = 0;
    for (const process of environment.processes.filter(({ place }) => place === 0)) {
      for (const [name, step] of process.replica.workers) {
        if (name !== 'engine' && name !== 'reconcile') done += await step();
      }
    }
  }
}
