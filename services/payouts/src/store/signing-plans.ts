import { readOrder, type SigningOrder, wireText } from '@quittance/chains/signing';
import { assetSymbols, type Chain, type ChainKind } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { z } from 'zod';
import type { TransactionPayment } from './replacement-groups.ts';
import type { Transaction } from './transactions.ts';

/** A transaction that is going to be signed, with everything that will be stored of it beside its bytes. */
export type PlannedTransaction<K extends ChainKind = ChainKind> = Pick<
  Transaction,
  | 'wallet'
  | 'nonce'
  | 'asset'
  | 'amount'
  | 'minConfirmations'
  | 'finalHeightWhenSigned'
  | 'validToHeight'
  | 'terms'
> & {
  order: SigningOrder<K>;
  /** The attempt that it replaces; null for the first of a new group. */
  after: Pick<Transaction, 'id' | 'group' | 'attempt'> | null;
  /** Whom it pays; empty for a sweep. Those of a new attempt are its group's. */
  payments: TransactionPayment[];
  /** The deposits that it sweeps, and their address; null for payouts, and on Bitcoin. */
  swept: { address: string; depositIds: string[] } | null;
  /** On Bitcoin, also when there is no change. */
  changeIndex: number | null;
};

/** The next attempt of a group: what is not given is as in the one before. */
export const plannedAfter = <K extends ChainKind>(
  newest: Transaction,
  next: Pick<PlannedTransaction<K>, 'order' | 'payments' | 'swept'> & Partial<PlannedTransaction<K>>,
): PlannedTransaction<K> => {
  const { wallet, nonce, asset, amount, minConfirmations, finalHeightWhenSigned, validToHeight, terms } =
    newest;
  const { id, group, attempt } = newest;
  const same = {
    wallet,
    nonce,
    asset,
    amount,
    minConfirmations,
    finalHeightWhenSigned,
    validToHeight,
    terms,
  };
  return { ...same, changeIndex: null, after: { id, group, attempt }, ...next };
};

const amount = z.string().regex(/^\d+$/).transform(units);
const stored = z.array(
  z.object({
    wallet: z.string(),
    nonce: z.int().nullable(),
    asset: z.enum(assetSymbols),
    amount,
    minConfirmations: z.int(),
    finalHeightWhenSigned: z.int().nullable(),
    validToHeight: z.int().nullable(),
    terms: z.unknown(),
    order: z.unknown(),
    after: z.object({ id: z.string(), group: z.string(), attempt: z.int() }).nullable(),
    payments: z.array(
      z.object({
        payoutId: z.string().transform((id) => id as PayoutId),
        address: z.string(),
        amount,
        outputIndex: z.int().nullable(),
      }),
    ),
    swept: z.object({ address: z.string(), depositIds: z.array(z.string()) }).nullable(),
    changeIndex: z.int().nullable(),
  }),
);

const insert = statement(
  'signing_plans_insert',
  `insert into signing_plans (chain, transactions, fence) values ($1, $2, $3)
   on conflict (chain) do nothing returning chain`,
);

/** Stores a plan. False when the chain has one that is not carried out. */
export async function insertPlan(
  trx: Trx,
  chain: Chain,
  planned: readonly PlannedTransaction[],
  fence: string,
): Promise<boolean> {
  return (await trx.maybe(insert, [chain, wireText(planned), fence])) !== undefined;
}

const select = query<{ transactions: unknown }>(
  'signing_plans_one',
  'select transactions from signing_plans where chain = $1',
);

/** The plan of a chain that is not carried out. */
export async function findPlan(
  db: Queryable,
  chain: Chain,
  kind: ChainKind,
): Promise<PlannedTransaction[] | undefined> {
  const found = await db.maybe(select, [chain]);
  if (found === undefined) return undefined;
  return stored.parse(found.transactions).map((one) => ({ ...one, order: readOrder(kind, one.order) }));
}

const selectAny = statement('signing_plans_any', 'select 1 from signing_plans where chain = $1');

/** Whether a chain has a plan that is not carried out. */
export const hasPlan = async (db: Queryable, chain: Chain): Promise<boolean> =>
  (await db.maybe(selectAny, [chain])) !== undefined;

const remove = statement('signing_plans_delete', 'delete from signing_plans where chain = $1');

/** What is signed of a plan is stored in the same database transaction; the rest is planned again. */
export const deletePlan = (trx: Trx, chain: Chain) => trx.rows(remove, [chain]);
