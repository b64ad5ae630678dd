import { beforeEach } from '@jest/globals';
import { checkAddress, openSigner } from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets, type SettingsOf } from '@quittance/chains/settings';
import { type SigningOrder, toWire } from '@quittance/chains/signing';
import type { NonInclusion } from '@quittance/chains/solana/sender';
import type { AssetSymbol, Chain, ChainKind } from '@quittance/shared/assets';
import type { Asked, Bus } from '@quittance/shared/bus';
import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import { createLogger, throttledLog } from '@quittance/shared/logger';
import { units } from '@quittance/shared/money';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { reconciliationOf } from '../src/operations/read-reconciliation.ts';
import { signTransactions } from '../src/operations/sign-transactions.ts';
import type { Ports, SignerChain, SolanaNodes } from '../src/ports.ts';

export const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
export const OTHER_SEED = `${'abandon '.repeat(11)}about`;

export const HOUR_MS = 3_600_000;
const GWEI = 10n ** 9n;

export const recipients = {
  ethereum: '0x52908400098527886e0f7030069857d2e4169ee7',
  bitcoin: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  solana: 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg',
} as const;
export const others = {
  ethereum: '0x8617e340b3d01fa5f11f306f4090fd50e238070d',
  bitcoin: 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry',
  solana: 'GokivDYuQXPZCWRkwMhdH2h91KpDQXBEmpgBgs55bnpH',
} as const;

const noNodes = { rpcUrls: [] };
export const settingsOf: { [K in 'ethereum' | 'base' | 'bitcoin' | 'solana']: ChainSettings } = {
  ethereum: {
    ...noNodes,
    kind: 'evm',
    chain: 'ethereum',
    chainId: 31_337,
    usdcAddress: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  },
  base: { ...noNodes, kind: 'evm', chain: 'base', chainId: 8_453 },
  bitcoin: { ...noNodes, kind: 'bitcoin', chain: 'bitcoin', network: 'regtest' },
  solana: { ...noNodes, kind: 'solana', chain: 'solana', network: 'local' },
};

type Hold = ReplyOf<'holds.describe'>['holds'][number];
type Reconciled = ReplyOf<'reconciliation.read'>['assets'];

/** What the ledger, the auditor and the nodes of Solana answer, until a test changes it. */
class Surroundings {
  nowMs = Date.parse('2026-06-01T12:00:00Z');
  readonly holds = new Map<string, Hold>();
  /** Undefined: no answer. */
  reconciled: Reconciled | undefined = [];
  ledgerAnswers = true;
  readonly asked: string[] = [];
  readonly describedSince: (string | null)[] = [];
  /** By transaction: what the nodes say of it. */
  readonly nonInclusions = new Map<string, NonInclusion>();
  nodesAnswer = true;
  finalSlot = 1_000;
  validToHeightOfNow = 1_150;
  readonly searched: [string, number, number][] = [];

  readonly bus = {
    ask: async (command: string, request: unknown): Promise<Asked<unknown>> => {
      this.asked.push(command);
      const silent = { known: false, reason: 'nobody answers' } as const;
      if (command === 'reconciliation.read')
        return this.reconciled === undefined ? silent : { known: true, reply: { assets: this.reconciled } };
      if (command !== 'holds.describe' || !this.ledgerAnswers) return silent;
      const { holds } = request as RequestOf<'holds.describe'>;
      this.describedSince.push(...holds.map(({ deposits_since: since }) => since));
      return {
        known: true,
        reply: { holds: holds.flatMap(({ payout_id: id }) => this.holds.get(id) ?? []) },
      };
    },
  } as Pick<Bus, 'ask'>;

  readonly nodes: SolanaNodes = {
    check: async () => this.#answered(undefined),
    finalizedHeight: async () => this.#answered(this.finalSlot),
    lifetime: async () =>
      this.#answered({ blockhash: BLOCKHASH, lastValidBlockHeight: this.validToHeightOfNow }),
    nonInclusion: async (...asked) => {
      this.searched.push(asked);
      return this.#answered(this.nonInclusions.get(asked[0]) ?? 'unproven');
    },
  };

  #answered<T>(answer: T): T {
    if (!this.nodesAnswer) throw new Error('the node is away');
    return answer;
  }
}

export const BLOCKHASH = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM';

type Line = { level: string; msg: string } & Record<string, unknown>;

export function chainOf(settings: ChainSettings, seed: string, nodes: SolanaNodes): SignerChain {
  return {
    kind: settings.kind,
    chain: settings.chain,
    signer: openSigner(settings as SettingsOf<ChainKind>, seed),
    assets: configuredAssets(settings),
    checkAddress: (text: string) => checkAddress(settings, text),
    nodes: settings.kind === 'solana' ? nodes : undefined,
  } as SignerChain;
}

const ALL_TABLES = [
  'non_inclusions',
  'spent_outpoints',
  'signed_payouts',
  'cleared_payouts',
  'signatures',
  'wallets',
];

/** For one suite: a signer over a database of its own. Before every test it has signed nothing, and nothing is held. */
export async function signerSuite() {
  const database = await suiteDatabase();
  const db = database.openAs('signer');
  const admin = database.openAsAdmin('signer', { pool: 1 });
  const fixture = { ...newState(), db, admin, database };
  beforeEach(async () => {
    for (const table of ALL_TABLES) await admin.rows(`delete from ${table}`);
    Object.assign(fixture, newState());
  });

  function newState() {
    const around = new Surroundings();
    const lines: Line[] = [];
    return { around, lines, ports: portsOf(around, lines) };
  }

  function portsOf(around: Surroundings, lines: Line[], seed = SEED, given: Partial<Ports> = {}): Ports {
    const logger = createLogger('signer', 'silent');
    for (const level of ['info', 'warn', 'error'] as const)
      logger[level] = ((fields: object, msg: string) => lines.push({ ...fields, level, msg })) as never;
    const clock = { now: () => new Date(around.nowMs) };
    const throttled = throttledLog(logger, () => around.nowMs);
    const { bus } = around;
    return {
      ...{ db, bus, clock, logger, throttledLog: throttled },
      chains: new Map(
        Object.values(settingsOf).map((settings): [Chain, SignerChain] => [
          settings.chain,
          chainOf(settings, seed, around.nodes),
        ]),
      ),
      reconciliation: reconciliationOf({ bus, clock, throttledLog: throttled }),
      settings: { limits: {}, reconciledWithinMs: 0 },
      ...given,
    };
  }

  return Object.assign(fixture, {
    portsOf: (seed: string) => portsOf(fixture.around, fixture.lines, seed),
    set(settings: Partial<Ports['settings']>) {
      fixture.ports = { ...fixture.ports, settings: { ...fixture.ports.settings, ...settings } };
    },
    /** Holds money for a payout, as the ledger describes it. */
    hold(id: string, given: Partial<Hold> = {}): string {
      fixture.around.holds.set(id, {
        payout_id: id,
        account_id: 'acc_1',
        asset: 'ETH',
        amount: '1000',
        network_fee: '10',
        destination: recipients.ethereum,
        is_placed: true,
        available: '0',
        deposited_since: '0',
        ...given,
      });
      return id;
    },
    sign: (chain: Chain, orders: readonly AskedFor[], onlyKnown = false, ports = fixture.ports) =>
      signTransactions(ports, {
        chain,
        only_known: onlyKnown,
        orders: orders.map(({ order, payouts }) => ({ order: toWire(order), payouts: [...payouts] })),
      }),
    /** How many rows each table has. */
    async rows(): Promise<Record<string, number>> {
      const counts = ALL_TABLES.map(async (table) => {
        const { count } = await db.one<{ count: number }>(`select count(*)::int as count from ${table}`);
        return [table, count] as const;
      });
      return Object.fromEntries((await Promise.all(counts)).filter(([, count]) => count > 0));
    },
  });
}
export type SignerFixture = Awaited<ReturnType<typeof signerSuite>>;

export type AskedFor = { order: SigningOrder; payouts: readonly string[] };

const hotOf = (chain: keyof typeof settingsOf, seed = SEED) =>
  openSigner(settingsOf[chain] as SettingsOf<ChainKind>, seed).addresses.hotAddress;

const hot = { evm: hotOf('ethereum'), bitcoin: hotOf('bitcoin'), solana: hotOf('solana') };

/** A transfer of Ethereum for one payout, of 1000 wei unless something else is given. */
export const aTransfer = (
  payout: string,
  given: Partial<Extract<SigningOrder<'evm'>, { is: 'transfer' }>> = {},
): AskedFor => ({
  payouts: [payout],
  order: {
    is: 'transfer',
    hot: hot.evm,
    asset: 'ETH',
    to: recipients.ethereum,
    amount: units(1_000n),
    nonce: 0,
    gas: 21_000n,
    fees: { maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI },
    ...given,
  },
});

/** The same with a higher fee. */
export const bumped = (asked: AskedFor, times = 2n): AskedFor => ({
  ...asked,
  order: {
    ...(asked.order as SigningOrder<'evm'>),
    fees: { maxFeePerGas: GWEI * times, maxPriorityFeePerGas: GWEI * times },
  } as SigningOrder,
});

/** Ether of the deposit address 0 to the hot wallet. */
export function aSweep(given: Partial<Extract<SigningOrder<'evm'>, { is: 'native_sweep' }>> = {}): AskedFor {
  const { depositAddress } = openSigner(settingsOf.ethereum as SettingsOf<'evm'>, SEED).addresses;
  return {
    payouts: [],
    order: {
      is: 'native_sweep',
      hot: hot.evm,
      index: 0,
      address: depositAddress(0),
      balance: units(10n ** 18n),
      nonce: 0,
      fees: { maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI },
      ...given,
    },
  };
}

export const outpoint = (n: number): string => `${n.toString(16).padStart(64, '0')}:0`;

/** 10,000 satoshi for each payout, out of inputs of 100,000, with 1,000 for the fee and no change. */
export function aSpend(
  payouts: readonly string[],
  inputs: readonly number[],
  given: { amount?: bigint; fee?: bigint; of?: bigint } = {},
): AskedFor {
  const { amount = 10_000n, fee = 1_000n, of = 100_000n } = given;
  const utxos = inputs.map((n) => ({
    outpoint: outpoint(n),
    branch: 'hot' as const,
    index: 0,
    amount: units(of),
  }));
  const change = of * BigInt(inputs.length) - amount * BigInt(payouts.length) - fee;
  return {
    payouts,
    order: {
      is: 'spend',
      hot: hot.bitcoin,
      utxos,
      recipients: payouts.map(() => ({ to: recipients.bitcoin, amount: units(amount) })),
      change: { index: 0, amount: units(change) },
      fee: units(fee),
    },
  };
}

/** A transfer of Solana for one payout, of 1000 lamports unless something else is given. */
export const aSolanaTransfer = (
  payout: string,
  given: Partial<Extract<SigningOrder<'solana'>, { is: 'transfer' }>> = {},
): AskedFor => ({
  payouts: [payout],
  order: {
    is: 'transfer',
    hot: hot.solana,
    asset: 'SOL',
    to: recipients.solana,
    amount: units(1_000n),
    lifetime: { blockhash: BLOCKHASH, lastValidBlockHeight: 1_150 },
    priorityFee: 10_000n,
    tokenAccountRent: units(0n),
    ...given,
  },
});

export const reconciled = (asset: AssetSymbol, passedAt: Date | null, isHalted = false): Reconciled => [
  { asset, passed_at: passedAt?.toISOString() ?? null, is_halted: isHalted },
];
