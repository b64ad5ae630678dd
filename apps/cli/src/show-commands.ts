import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Db, Queryable } from '@quittance/shared/db';
import { formatUnits, units } from '@quittance/shared/money';
import { withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { type Said, say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { table } from './table.ts';
import { announcedMoments, happened, inOrder, type Moment } from './timeline.ts';

const amountOf = (text: string, asset: AssetSymbol): string =>
  `${formatUnits(units(text), assets[asset].decimals)} ${asset}`;

const nameOf = async (db: Queryable, account: string): Promise<string> =>
  (await db.maybe<{ name: string }>('select name from gateway.accounts where id = $1', [account]))?.name ??
  account;

function shown(facts: readonly (readonly [string, string])[], moments: readonly Moment[]): Said {
  const width = Math.max(...facts.map(([name]) => name.length));
  const head = facts.map(([name, value]) => say`${name.padEnd(width)}  ${value}\n`);
  const rows = moments.map(({ at, where, what }) => [at.toISOString(), where, what]);
  return say`${head}\n${table(['WHEN', 'WHERE', 'WHAT'], rows)}`;
}

type Payout = {
  id: string;
  account: string;
  asset: AssetSymbol;
  amount: string;
  networkFee: string;
  address: string;
  status: string;
  txHash: string | null;
  failedReason: string | null;
  createdAt: Date;
  completedAt: Date | null;
};

type Attempt = {
  attempt: number;
  txHash: string;
  state: string;
  createdAt: Date;
  broadcasts: number;
  firstAt: Date | null;
  lastAt: Date | null;
  height: string | null;
  feePaid: string | null;
  finalAt: Date | null;
  missingSince: Date | null;
  updatedAt: Date;
};

/** A settled transaction that a reorganisation has dropped: nothing later of its wallet is mined before it is back. */
type Missing = { nonce: string; wallet: string; txHash: string; since: Date; payout: string | null };

/** A payout, and all that became of it in every service, by time. */
export const payoutShow = (around: Surroundings, id: string): Promise<SaidOutcome> =>
  withOperator(around, 'operator', async (db) => {
    const payout = /^\d{1,16}$/.test(id)
      ? await db.maybe<Payout>(
          `select id::text, account_id as account, asset, amount::text, network_fee::text as "networkFee", address,
             status, tx_hash as "txHash", failed_reason as "failedReason", created_at as "createdAt",
             completed_at as "completedAt"
           from payouts.payouts where id = $1::bigint`,
          [id],
        )
      : undefined;
    if (payout === undefined) throw new CommandError(`There is no payout ${JSON.stringify(id)}.`);
    const moments = inOrder([
      { at: payout.createdAt, where: 'payouts', what: 'is asked for the payout (requested)' },
      ...(await holdMoments(db, payout)),
      ...(await attemptMoments(db, payout)),
      ...happened(payout.completedAt, 'payouts', `the payout is ${payout.status}`),
      ...(await announcedMoments(db, {
        sender: 'payouts',
        where: `o.created_at >= $2::timestamptz - interval '1 minute' and
          (o.payload ->> 'payout_id' = $1 or (o.payload ->> 'resource_id' = $1 and o.kind like 'payout.%'))`,
        values: [payout.id, payout.createdAt],
      })),
    ]);
    const { asset } = payout;
    const account = await nameOf(db, payout.account);
    const missing = await missingBefore(db, payout);
    return {
      json: {
        id: payout.id,
        account_id: payout.account,
        account,
        asset,
        amount: formatUnits(units(payout.amount), assets[asset].decimals),
        network_fee: formatUnits(units(payout.networkFee), assets[asset].decimals),
        address: payout.address,
        status: payout.status,
        tx_hash: payout.txHash,
        failed_reason: payout.failedReason,
        created_at: payout.createdAt,
        completed_at: payout.completedAt,
        waits_for:
          missing === undefined
            ? null
            : {
                missing_nonce: missing.nonce,
                wallet: missing.wallet,
                tx_hash: missing.txHash,
                payout_id: missing.payout,
                missing_since: missing.since,
              },
        timeline: moments,
      },
      text: shown(
        [
          ['Payout', payout.id],
          ['Account', `${account} (${payout.account})`],
          ['Amount', `${amountOf(payout.amount, asset)}, network fee ${amountOf(payout.networkFee, asset)}`],
          ['To', payout.address],
          ['Status', payout.status + (payout.failedReason === null ? '' : `: ${payout.failedReason}`)],
          ['Transaction', payout.txHash ?? 'none'],
          ...(missing === undefined ? [] : [['Waits for', whatIsMissing(missing)] as const]),
        ],
        moments,
      ),
    };
  });

/** The lowest missing nonce that a payout waits behind: its transaction has a later one, or it has none yet. */
async function missingBefore(db: Db, { id, asset, status }: Payout): Promise<Missing | undefined> {
  if (!['requested', 'reserved', 'signed', 'broadcast'].includes(status)) return undefined;
  return await db.maybe<Missing>(
    `select m.nonce::text, m.wallet, m.tx_hash as "txHash", m.missing_since as since, p.payout_id::text as payout
     from payouts.transactions m
     join payouts.wallets w on w.chain = m.chain and w.address = m.wallet and w.role = 'hot'
     left join payouts.payments p on p.family = m.family
     where m.chain = $2 and m.missing_since is not null and m.nonce < coalesce((
       select min(t.nonce) from payouts.payments own join payouts.transactions t on t.family = own.family
       where own.payout_id = $1::bigint), m.nonce + 1)
     order by m.nonce limit 1`,
    [id, assets[asset].chain],
  );
}

const whatIsMissing = ({ nonce, wallet, txHash, since, payout }: Missing): string =>
  `nonce ${nonce} of ${wallet}: the chain has dropped ${txHash} (${payout === null ? 'a sweep' : `payout ${payout}`}) ` +
  `since ${since.toISOString()}, its bytes are sent again`;

async function holdMoments(db: Db, { id, asset }: Payout): Promise<Moment[]> {
  const hold = await db.maybe<{ state: string; createdAt: Date; endedAt: Date | null }>(
    `select state, created_at as "createdAt", ended_at as "endedAt" from ledger.holds where payout_id = $1`,
    [id],
  );
  if (hold === undefined) return [];
  const booked = await db.rows<{ kind: string; amount: string; fee: string; at: Date }>(
    `select kind, amount::text, network_fee::text as fee, created_at as at from ledger.transfers
     where op = any($1::text[]) order by seq`,
    [[`hold:${id}`, `settle:${id}`, `release:${id}`]],
  );
  const never = hold.state === 'refused' || hold.state === 'voided';
  return [
    {
      at: hold.createdAt,
      where: 'ledger',
      what: never && booked.length === 0 ? `decides the hold: ${hold.state}` : 'places the hold',
    },
    ...booked.map(({ kind, amount, fee, at }) => ({
      at,
      where: 'ledger' as const,
      what: `books ${kind} of ${amountOf(amount, asset)} and ${amountOf(fee, asset)} network fee`,
    })),
    ...happened(hold.endedAt, 'ledger', `the hold is ${hold.state}`),
  ];
}

async function attemptMoments(db: Db, { id }: Payout): Promise<Moment[]> {
  const attempts = await db.rows<Attempt>(
    `select t.attempt, t.tx_hash as "txHash", t.state, t.created_at as "createdAt", t.broadcasts,
       t.first_broadcast_at as "firstAt", t.last_broadcast_at as "lastAt", t.block_height::text as height,
       t.fee_paid::text as "feePaid", t.final_at as "finalAt", t.missing_since as "missingSince", t.updated_at as "updatedAt"
     from payouts.payments p join payouts.transactions t on t.family = p.family
     where p.payout_id = $1::bigint order by t.attempt`,
    [id],
  );
  return attempts.flatMap((one) => {
    const name = `attempt ${one.attempt} (${one.txHash})`;
    return [
      { at: one.createdAt, where: 'payouts' as const, what: `signs ${name}` },
      ...happened(one.firstAt, 'payouts', `broadcasts ${name}`),
      ...(one.broadcasts > 1
        ? happened(one.lastAt, 'payouts', `broadcasts ${name} for the ${one.broadcasts}th time`)
        : []),
      ...(one.state === 'mined' || one.state === 'reverted'
        ? happened(
            one.updatedAt,
            'chain',
            `has ${name} as ${one.state} in block ${one.height}, fee ${one.feePaid}`,
          )
        : one.state === 'dead'
          ? happened(one.updatedAt, 'payouts', `knows that ${name} can never be mined`)
          : []),
      ...happened(one.finalAt, 'chain', `has finalized ${name}`),
      ...happened(one.missingSince, 'chain', `has DROPPED ${name}: the same bytes are sent again`),
    ];
  });
}

type Invoice = {
  id: string;
  account: string;
  externalId: string | null;
  asset: AssetSymbol;
  amountDue: string;
  paidAmount: string;
  pendingAmount: string;
  cents: string;
  status: string;
  address: string;
  createdAt: Date;
  expiresAt: Date | null;
  paidAt: Date | null;
  closedAt: Date | null;
};

type Deposit = {
  id: string;
  asset: AssetSymbol;
  outpoint: string;
  amount: string;
  state: string;
  height: number;
  firstSeenAt: Date;
  confirmedAt: Date | null;
  settledAt: Date | null;
  disposition: string | null;
  creditedAt: Date | null;
  reversedAt: Date | null;
};

const CENTS = 2;

/** An invoice, and all that became of it and of the payments to its address in every service, by time. */
export const invoiceShow = (around: Surroundings, id: string): Promise<SaidOutcome> =>
  withOperator(around, 'operator', async (db) => {
    const invoice = await db.maybe<Invoice>(
      `select id, account_id as account, external_id as "externalId", asset, amount_due::text as "amountDue",
         paid_amount::text as "paidAmount", pending_amount::text as "pendingAmount", amount_fiat::text as cents, status,
         address, created_at as "createdAt", expires_at as "expiresAt", paid_at as "paidAt", closed_at as "closedAt"
       from invoices.invoices where id = $1`,
      [id],
    );
    if (invoice === undefined) throw new CommandError(`There is no invoice ${JSON.stringify(id)}.`);
    const { asset } = invoice;
    const moments = inOrder([
      { at: invoice.createdAt, where: 'invoices', what: 'makes the invoice' },
      ...(await sightingMoments(db, id)),
      ...(await depositMoments(db, id)),
      ...happened(invoice.paidAt, 'invoices', 'the invoice is paid'),
      ...happened(
        invoice.closedAt,
        'invoices',
        `the invoice is closed as ${invoice.status}: no money makes it paid any more`,
      ),
      ...(await announcedMoments(db, {
        sender: 'invoices',
        where: `o.created_at >= $2::timestamptz - interval '1 minute' and
          (o.payload ->> 'invoice_id' = $1 or o.payload ->> 'resource_id' = $1)`,
        values: [id, invoice.createdAt],
      })),
      ...(await announcedMoments(db, {
        sender: 'ledger',
        where: `o.kind = 'credit.recorded' and o.created_at >= $2 and o.payload ->> 'invoice_id' = $1`,
        values: [id, invoice.createdAt],
      })),
    ]);
    const account = await nameOf(db, invoice.account);
    const inAsset = (text: string) => formatUnits(units(text), assets[asset].decimals);
    return {
      json: {
        id,
        account_id: invoice.account,
        account,
        external_id: invoice.externalId,
        asset,
        amount_fiat: formatUnits(units(invoice.cents), CENTS),
        amount: inAsset(invoice.amountDue),
        pending_amount: inAsset(invoice.pendingAmount),
        paid_amount: inAsset(invoice.paidAmount),
        address: invoice.address,
        status: invoice.status,
        created_at: invoice.createdAt,
        expires_at: invoice.expiresAt,
        paid_at: invoice.paidAt,
        timeline: moments,
      },
      text: shown(
        [
          ['Invoice', id + (invoice.externalId === null ? '' : ` (${invoice.externalId})`)],
          ['Account', `${account} (${invoice.account})`],
          ['Due', `${amountOf(invoice.amountDue, asset)}, ${formatUnits(units(invoice.cents), CENTS)} USD`],
          [
            'Came in',
            `${amountOf(invoice.paidAmount, asset)} final, ${amountOf(invoice.pendingAmount, asset)} not yet`,
          ],
          ['Address', invoice.address],
          ['Status', invoice.status],
          ['Expires', invoice.expiresAt?.toISOString() ?? 'never'],
        ],
        moments,
      ),
    };
  });

async function sightingMoments(db: Db, invoice: string): Promise<Moment[]> {
  const rows = await db.rows<{
    asset: AssetSymbol;
    outpoint: string;
    amount: string;
    at: Date;
    goneAt: Date | null;
  }>(
    `select asset, outpoint, amount::text, first_seen_at as at, gone_at as "goneAt" from invoices.sightings
     where invoice_id = $1`,
    [invoice],
  );
  return rows.flatMap(({ asset, outpoint, amount, at, goneAt }) => [
    { at, where: 'chain', what: `${amountOf(amount, asset)} is seen in no block yet (${outpoint})` },
    ...happened(goneAt, 'chain', `${outpoint} waits no more and came into no block`),
  ]);
}

async function depositMoments(db: Db, invoice: string): Promise<Moment[]> {
  const deposits = await db.rows<Deposit>(
    `select id, asset, outpoint, amount::text, state, block_height as height, first_seen_at as "firstSeenAt",
       confirmed_at as "confirmedAt", settled_at as "settledAt", disposition, credited_at as "creditedAt",
       reversed_at as "reversedAt"
     from invoices.deposits where invoice_id = $1 order by first_seen_at, id`,
    [invoice],
  );
  const booked = await db.rows<{ op: string; kind: string; at: Date }>(
    `select op, kind, created_at as at from ledger.transfers where op = any($1::text[])`,
    [deposits.flatMap(({ id }) => [`deposit:${id}`, `reversal:${id}`, `accept:${id}`])],
  );
  return [
    ...deposits.flatMap((one) => [
      {
        at: one.firstSeenAt,
        where: 'chain' as const,
        what: `${amountOf(one.amount, one.asset)} arrives (${one.outpoint}), now ${one.state}, block ${one.height} (${one.id})`,
      },
      ...happened(one.confirmedAt, 'invoices', `${one.id} is as deep as it must be`),
      ...happened(one.settledAt, 'invoices', `${one.id} is settled: ${one.disposition}`),
      ...happened(one.creditedAt, 'invoices', `hears that the ledger has booked ${one.id}`),
      ...happened(one.reversedAt, 'invoices', `${one.id} is REVERSED: the chain took it back`),
    ]),
    ...booked.map(({ op, at }) => ({ at, where: 'ledger' as const, what: `books ${op}` })),
  ];
}
