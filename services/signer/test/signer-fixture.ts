import { beforeEach } from '@jest/globals';
import type { HotKeyOf } from '@quittance/chains/hot-key';
import { checkAddress, openSigner } from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets, type SettingsOf } from '@quittance/chains/settings';
import { toWire } from '@quittance/chains/signing';
import type { NonInclusion } from '@quittance/chains/solana/sender';
import type { AssetSymbol, Chain, ChainKind } from '@quittance/shared/assets';
import type { Asked, Bus } from '@quittance/shared/bus';
import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import { createLogger, throttledLog } from '@quittance/shared/logger';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { reconciliationOf } from '../src/operations/read-reconciliation.ts';
import { signTransactions } from '../src/operations/sign-transactions.ts';
import type { Ports, SignerChain, SolanaNodes } from '../src/ports.ts';
import { BLOCKHASH, type OrderOfPayouts, recipients, SEED, settingsOf } from './signer-orders.ts';

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

type Line = { level: string; msg: string } & Record<string, unknown>;

/** Keys of hot wallets that are in a KMS, by chain. */
export type HotKeys = { [C in Chain]?: HotKeyOf<ChainKind> };

function chainOf(settings: ChainSettings, seed: string, nodes: SolanaNodes, keys: HotKeys): SignerChain {
  const hotKey = keys[settings.chain];
  return {
    kind: settings.kind,
    chain: settings.chain,
    signer: openSigner(settings as SettingsOf<ChainKind>, seed, hotKey),
    hotKeyIn: hotKey === undefined ? 'phrase' : 'kms',
    assets: configuredAssets(settings),
    checkAddress: (text: string) => checkAddress(settings, text),
    nodes: settings.kind === 'solana' ? nodes : undefined,
  } as SignerChain;
}

export const ALL_TABLES = [
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

  function portsOf(around: Surroundings, lines: Line[], seed = SEED, keys: HotKeys = {}): Ports {
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
          chainOf(settings, seed, around.nodes, keys),
        ]),
      ),
      reconciliation: reconciliationOf({ bus, clock, throttledLog: throttled }),
      settings: { limits: {}, reconciledWithinMs: 0 },
    };
  }

  return Object.assign(fixture, {
    portsOf: (seed: string, keys?: HotKeys) => portsOf(fixture.around, fixture.lines, seed, keys),
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
    sign: (
      chain: Chain,
      orders: readonly OrderOfPayouts[],
      onlyKnown = false,
      ports = fixture.ports,
      askedAt = ports.clock.now(),
    ) =>
      signTransactions(ports, {
        chain,
        asked_at: askedAt.toISOString(),
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

export const reconciled = (asset: AssetSymbol, passedAt: Date | null, isHalted = false): Reconciled => [
  { asset, passed_at: passedAt?.toISOString() ?? null, is_halted: isHalted },
];
