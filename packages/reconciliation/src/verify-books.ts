import { setTimeout as sleep } from 'node:timers/promises';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { openDb } from '@quittance/shared/db';
import { createLogger, reason } from '@quittance/shared/logger';
import {
  chainMeanings,
  compareWithChain,
  type Limits,
  NodeElsewhere,
  readStory,
  type WatchedChain,
} from './chain-invariants.ts';
import { type Invariant, invariants, type Marks } from './invariants.ts';
import { type Secrets, secretsInLogs } from './secrets-in-logs.ts';
import type { SeenBalances } from './seen-balances.ts';
import { type Snapshot, snapshotOf } from './snapshot.ts';

export type Breach = {
  invariant: string;
  meaning: string;
  what: string;
  /** Names the breach, and stays the same while money moves on around it. */
  subject: string;
  /** By how much, where that can grow: an operator who accepts it accepts so much and no more. */
  amount?: bigint;
  /** Whose books it spoils; none: of all assets, or of no matter for money. */
  asset?: AssetSymbol;
  /** The chain whose node showed it. */
  chain?: Chain;
  /** It stands for those of its asset that were too many to be named. */
  isTheRest?: true;
  /** It may be money lost: payouts of the asset, or of all when it names none, wait until somebody has looked. */
  halts: boolean;
};

export type BooksReport = {
  breaches: Breach[];
  /** The invariants that were checked, and how much there was to check. */
  checked: {
    invariants: string[];
    /** The chains whose nodes were asked. */
    chains: Chain[];
    transfers: number;
    entries: number;
    balances: number;
    payouts: number;
    deposits: number;
  };
};

export type BooksOptions = {
  /** A role that may read every service's schema: the books of services in different databases cannot be compared. */
  databaseUrl: string;
  /** What is younger may still be on its way from one service to the next. */
  patienceSeconds?: number;
  /** Only what holds within each service by itself: for a service that is tested without the others. */
  aloneOnly?: boolean;
  /** Chains that the books are compared with. */
  chains?: readonly WatchedChain[];
  /** Payouts that nothing happened to since then, and deposits settled before, are not looked up in their chains. */
  since?: Date;
  /** Log files in which none of these secrets may stand. */
  logs?: { files: readonly string[]; secrets: Secrets };
};

/** A chain's node could not be asked, or lags, so the books were not checked against it. */
export class ChainUnseen extends Error {
  override name = 'ChainUnseen';
}

/** So many of each invariant and asset are named, lest those of one asset hide another's. */
const NAMED_MAX = 100;
/** Money moves between reading the books and asking a chain: what is wrong only for that moment is read again. */
const LOOKS_MAX = 3;
const LOOK_AGAIN_AFTER_MS = 2_000;
/** Every row of every table is read, once a day or when somebody asks for it. */
const WHOLE_CHECK_MAX_MS = 30 * 60_000;

/**
 * Checks the books of all services against each other, in one read-only snapshot, so that money in motion is not
 * mistaken for money lost; then against the chains. Changes nothing. Throws ChainUnseen when a node cannot be asked.
 */
export async function verifyBooks(options: BooksOptions): Promise<BooksReport> {
  const { databaseUrl, patienceSeconds = 60, aloneOnly = false, chains = [], since, logs } = options;
  const checked = invariants.filter((invariant) => !aloneOnly || invariant.alone === true);
  const db = openDb({
    url: databaseUrl,
    schema: 'ledger',
    pool: 1,
    logger: createLogger('books', 'error'),
    answerWithinMs: WHOLE_CHECK_MAX_MS,
  });
  const snapshot = snapshotOf(db, WHOLE_CHECK_MAX_MS);
  try {
    const breaches = await checkInvariants(snapshot, checked, { patienceSeconds });
    const {
      transfers = 0,
      entries = 0,
      balances = 0,
      payouts = 0,
      deposits = 0,
    } = await snapshot((trx) =>
      trx.one<Record<string, number>>(
        `select (select count(*) from ledger.transfers)::int as transfers,
                (select count(*) from ledger.entries)::int as entries,
                (select count(*) from ledger.balances)::int as balances,
                (select count(*) from payouts.payouts)::int as payouts,
                (select count(*) from invoices.deposits)::int as deposits`,
      ),
    );
    for (const chain of chains) {
      breaches.push(...(await checkChain(snapshot, chain, { patienceSeconds, since })));
    }
    if (logs !== undefined) breaches.push(...(await secretsInLogs(logs.files, logs.secrets)));
    const names = new Set(checked.map((invariant: Invariant) => invariant.name));
    if (chains.length > 0) for (const name of Object.keys(chainMeanings)) names.add(name);
    if (logs !== undefined) names.add('I11');
    return {
      breaches,
      checked: {
        invariants: [...names].sort(byNumber),
        chains: chains.map(({ settings }) => settings.chain),
        transfers,
        entries,
        balances,
        payouts,
        deposits,
      },
    };
  } finally {
    await db.close();
  }
}

// tidy-allow number: of an invariant
const byNumber = (a: string, b: string): number => Number(a.slice(1)) - Number(b.slice(1));

type Row = {
  what: string;
  asset: AssetSymbol | null;
  subject: string;
  amount: string | null;
  rest: string | null;
};

export type Question = {
  /** What is younger may still be on its way. */
  patienceSeconds: number;
  /** Only what is newer than they are, or open. */
  marks?: Marks | undefined;
  /** Known already: they are named however many others there are, and crowd none of them out. */
  known?: readonly Pick<Breach, 'invariant' | 'subject'>[];
};

// Not every question has an amount.
const namedOnes = (sql: string): string => `
  select what, asset, subject, amount, case when place = ${NAMED_MAX} and not is_known then rest end as rest from (
    select what, asset, subject, to_jsonb(breach) ->> 'amount' as amount, subject = any($2::text[]) as is_known,
      row_number() over (partition by asset, subject = any($2) order by subject, what) as place,
      nullif(count(*) over (partition by asset, subject = any($2)) - ${NAMED_MAX}, 0)::text as rest
    from (${sql}) as breach) as numbered
  where $1::int is not null and (is_known or place <= ${NAMED_MAX}) order by asset, subject, what`;

/** What breaks these invariants, all seen in one snapshot. */
export async function checkInvariants(
  snapshot: Snapshot,
  checked: readonly Invariant[],
  { patienceSeconds, marks, known = [] }: Question,
): Promise<Breach[]> {
  return await snapshot(async (trx) => {
    const found: Breach[] = [];
    for (const { name, meaning, halts, sql: whole, recent } of checked) {
      const sql = marks === undefined ? whole : recent?.(marks);
      if (sql === undefined) continue;
      const subjects = known.filter(({ invariant }) => invariant === name).map(({ subject }) => subject);
      for (const { asset, amount, rest, ...row } of await trx.rows<Row>(namedOnes(sql), [
        patienceSeconds,
        subjects,
      ])) {
        const of = { invariant: name, meaning, halts, ...(asset === null ? {} : { asset }) };
        found.push({ ...of, ...row, ...(amount === null ? {} : { amount: BigInt(amount) }) });
        if (rest === null) continue;
        const [what, subject] = [`${rest} more of ${asset ?? 'no asset'}`, `more of ${asset}: ${meaning}`];
        found.push({ ...of, what, subject, amount: BigInt(rest), isTheRest: true });
      }
    }
    return found;
  });
}

/** What a chain does not bear out. Throws ChainUnseen when its node cannot be asked, or does not stand where we do. */
export async function checkChain(
  snapshot: Snapshot,
  chain: WatchedChain,
  limits: Limits,
  balances?: SeenBalances,
): Promise<Breach[]> {
  const { chain: name } = chain.settings;
  for (let looks = 1; ; looks++) {
    const story = await snapshot((trx) => readStory(trx, chain, limits));
    const isLast = looks === LOOKS_MAX || limits.patienceSeconds === 0;
    try {
      const found = await compareWithChain(story, chain.settings, balances);
      if (found.length === 0 || isLast) {
        return found.map((breach) => ({
          ...breach,
          meaning: chainMeanings[breach.invariant],
          chain: name,
          halts: true,
        }));
      }
    } catch (cause) {
      if (!(cause instanceof NodeElsewhere)) {
        throw new ChainUnseen(`the node of ${name} cannot be asked: ${reason(cause)}`, { cause });
      }
      if (isLast) throw new ChainUnseen(`the node of ${name} lags: ${reason(cause)}`, { cause });
    }
    await sleep(LOOK_AGAIN_AFTER_MS);
  }
}
