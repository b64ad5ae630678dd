import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import { formatUnits, units } from '@quittance/shared/money';
import { accountName, amountOf, history } from './history.ts';
import { withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { eventMoments, happened, inOrder, type Moment } from './timeline.ts';

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
  /** Why the signer refuses it for now. */
  refusedBecause: string | null;
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
export const showPayout = (around: Surroundings, id: string): Promise<SaidOutcome> =>
  withOperator(around, 'operator', async (db) => {
    const payout = /^\d{1,16}$/.test(id)
      ? await db.maybe<Payout>(
          `select id::text, account_id as account, asset, amount::text, network_fee::text as "networkFee", address,
             status, tx_hash as "txHash", failed_reason as "failedReason", created_at as "createdAt",
             completed_at as "completedAt",
             case when status = 'reserved' then signing_refused_because end as "refusedBecause"
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
      ...(await eventMoments(db, {
        sender: 'payouts',
        where: `o.created_at >= $2::timestamptz - interval '1 minute' and
          (o.payload ->> 'payout_id' = $1 or (o.payload ->> 'resource_id' = $1 and o.kind like 'payout.%'))`,
        values: [payout.id, payout.createdAt],
      })),
    ]);
    const { asset } = payout;
    const account = await accountName(db, payout.account);
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
        refused_because: payout.refusedBecause,
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
      text: history(
        [
          ['Payout', payout.id],
          ['Account', `${account} (${payout.account})`],
          ['Amount', `${amountOf(payout.amount, asset)}, network fee ${amountOf(payout.networkFee, asset)}`],
          ['To', payout.address],
          ['Status', payout.status + (payout.failedReason === null ? '' : `: ${payout.failedReason}`)],
          ['Transaction', payout.txHash ?? 'none'],
          ...(payout.refusedBecause === null
            ? []
            : [['Signer', `refuses it for now: ${payout.refusedBecause}`] as const]),
          ...(missing === undefined ? [] : [['Waits for', whatIsMissing(missing)] as const]),
        ],
        moments,
      ),
    };
  });

/** The lowest missing nonce that a payout waits behind: its transaction has a later one, or it has none yet. */
async function missingBefore(db: Db, { id, asset, status }: Payout): Promise<Missing | undefined> {
  if (!['requested', 'reserved', 'planned', 'signed', 'broadcast'].includes(status)) return undefined;
  return await db.maybe<Missing>(
    `select m.nonce::text, m.wallet, m.tx_hash as "txHash", m.missing_since as since, p.payout_id::text as payout
     from payouts.transactions m
     join payouts.wallets w on w.chain = m.chain and w.address = m.wallet and w.role = 'hot'
     left join payouts.payments p on p.replacement_group = m.replacement_group
     where m.chain = $2 and m.missing_since is not null and m.nonce < coalesce((
       select min(t.nonce)
       from payouts.payments own join payouts.transactions t on t.replacement_group = own.replacement_group
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
     from payouts.payments p join payouts.transactions t on t.replacement_group = p.replacement_group
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
        : one.state === 'invalidated'
          ? happened(one.updatedAt, 'payouts', `knows that ${name} can never be mined`)
          : []),
      ...happened(one.finalAt, 'chain', `has finalized ${name}`),
      ...happened(one.missingSince, 'chain', `has DROPPED ${name}: the same bytes are sent again`),
    ];
  });
}
