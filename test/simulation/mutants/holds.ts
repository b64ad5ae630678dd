import type { Bus } from '@quittance/shared/bus';
import { type Db, query } from '@quittance/shared/db';
import type { Mutant } from '../mutant.ts';
import { type Call, hookedDb, rewrite } from './statements.ts';

/** The ledger's silence is taken for an answer. */
const silentIs =
  (outcome: 'placed' | 'refused') =>
  (bus: Bus): Bus => ({
    ...bus,
    async ask(command, request) {
      const asked = await bus.ask(command, request);
      if (asked.known || command !== 'hold.place') return asked;
      return { known: true, reply: { outcome } as never };
    },
  });

/** A reservation whose answer is not heard has failed, or has not. */
const unheardReservationIs =
  (moved: 0 | 1) =>
  (db: Db): Db =>
    hookedDb(db, async ({ sql }, go) => {
      if (sql.name !== 'payouts_reserve') return await go();
      return await go().catch(() => [{ moved }]);
    });

/** An event of this kind is never written. */
const untold = (kind: string) =>
  [
    /unnest\(([\s\S]*)\)$/,
    `unnest($1::text[], $2::text[], $3::jsonb[], $4::text[]) as told(id, kind, payload, request_id)
   where kind <> '${kind}'`,
  ] as const;

/** How a payout is requested and its money held. */
export const holdMutants: readonly Mutant[] = [
  {
    name: 'timeout-is-refusal',
    what: 'a ledger that is not heard has refused: nothing is undone there',
    shows: /^I4/,
    apply({ bus }) {
      bus.payouts = silentIs('refused');
    },
  },
  {
    name: 'timeout-is-consent',
    what: 'a ledger that is not heard will have placed the hold',
    shows: /the ledger has a dead letter: hold\.settle/,
    apply({ bus }) {
      bus.payouts = silentIs('placed');
    },
  },
  {
    name: 'void-without-tombstone',
    what: 'a payout that was given up leaves nothing in the ledger that refuses its hold when it comes late',
    shows: /^I4/,
    apply(wiring) {
      rewrite(
        wiring,
        'ledger.holds_decide',
        ['where payout_id = any($1::text[])', `where payout_id = any($1::text[]) and state <> 'voided'`],
        [
          'on conflict (payout_id) do nothing',
          `on conflict (payout_id) do update set state = excluded.state, amount = excluded.amount,
             network_fee = excluded.network_fee, ended_at = excluded.ended_at`,
        ],
      );
    },
  },
  {
    name: 'hold-for-each-question',
    what: 'who hears no answer asks for the hold again, and it is decided by question, not by payout',
    shows: /^I3/,
    apply(wiring) {
      wiring.bus.payouts = (bus) => ({
        ...bus,
        async ask(command, request) {
          const asked = await bus.ask(command, request);
          return asked.known ? asked : await bus.ask(command, request);
        },
      });
      rewrite(
        wiring,
        'ledger.holds_decide',
        ['where payout_id = any($1::text[])', 'where payout_id = any($1::text[]) and false'],
        [
          'on conflict (payout_id) do nothing',
          `on conflict (payout_id) do update set state = excluded.state, amount = excluded.amount,
             network_fee = excluded.network_fee, ended_at = excluded.ended_at`,
        ],
        [
          `select 'hold:' || payout_id, `,
          `select 'hold:' || payout_id || repeat(' again', (
           select count(*) from transfers k where k.op like 'hold:' || payout_id || '%')::int), `,
        ],
      );
    },
  },
  {
    name: 'balance-read-then-written',
    what: 'a balance is read once, kept and compared in memory, and written as what is left of it',
    shows: /^I2/,
    apply({ db }) {
      db.ledger = readingThenWriting;
    },
  },
  {
    name: 'unheard-commit-is-503',
    what: 'a reservation whose commit was not answered has failed: the client hears 503',
    shows: /^refused, and its payout is/,
    apply({ db }) {
      db.payouts = unheardReservationIs(0);
    },
  },
  {
    name: 'unheard-commit-is-201',
    what: 'a reservation whose commit was not answered will have been written: the client hears 201',
    shows: /^accepted, and there is no payout/,
    apply({ db }) {
      db.payouts = unheardReservationIs(1);
    },
  },
  {
    name: 'key-not-stored',
    what: 'the Idempotency-Key is not written with the payout it made',
    shows: /^paid 2 times|payouts for one order/,
    apply(wiring) {
      wiring.sql.set(
        'payouts.idempotency_insert',
        () => 'select $1::text, $2::text, $3::text, $4::text, $5::int, $6::json where false',
      );
    },
  },
  {
    name: 'answer-not-stored',
    what: 'the answer of the request that made a payout is not stored with its Idempotency-Key',
    shows: /^a repeated request is answered with 409/,
    apply: (wiring) =>
      rewrite(wiring, 'payouts.payouts_reserve', [
        'where resource_id = $1::text',
        'where false and resource_id = $1::text',
      ]),
  },
  {
    name: 'given-up-in-silence',
    what: 'a request that nobody decided is given up without telling the ledger',
    shows: /^I4/,
    apply: (wiring) => rewrite(wiring, 'payouts.outbox_insert', untold('hold.void')),
  },
  {
    name: 'failed-keeps-its-hold',
    what: 'a payout that failed keeps its hold',
    shows: /^I4/,
    apply: (wiring) => rewrite(wiring, 'payouts.outbox_insert', untold('hold.release')),
  },
];

type Wanted = { id: unknown; account: unknown; asset: unknown; amount: bigint; fee: bigint };

type Balance = { available: bigint; held: bigint };

/** Of one process. */
function readingThenWriting(db: Db): Db {
  const balances = new Map<string, Balance>();
  return hookedDb(db, async (call, go) => {
    if (call.sql.name !== 'holds_decide') return await go();
    const decided: Record<string, unknown>[] = [];
    for (const wanted of wantedIn(call)) decided.push(await decide(db, balances, wanted));
    return decided;
  });
}

function wantedIn({ values }: Call): Wanted[] {
  const [ids, accounts, assets, amounts, fees] = values as readonly (readonly unknown[])[];
  return (ids ?? []).map((id, i) => ({
    id,
    account: accounts?.[i],
    asset: assets?.[i],
    amount: BigInt(String(amounts?.[i])),
    fee: BigInt(String(fees?.[i])),
  }));
}

async function decide(
  db: Db,
  balances: Map<string, Balance>,
  { id, account, asset, amount, fee }: Wanted,
): Promise<Record<string, unknown>> {
  const shown =
    'payout_id as id, account_id as account, asset, amount, network_fee, deposit_id as deposit, state';
  const known = await db.maybe(
    query<Record<string, unknown>>('known_hold', `select ${shown} from holds where payout_id = $1`),
    [id],
  );
  if (known !== undefined) return known;
  const key = `${String(account)} ${String(asset)}`;
  const balance = balances.get(key) ?? (await read(db, account, asset));
  const total = amount + fee;
  const isThere = balance !== undefined && balance.available >= total;
  const left = { available: (balance?.available ?? 0n) - total, held: (balance?.held ?? 0n) + total };
  if (isThere) balances.set(key, left);
  return await db.transaction(async (trx) => {
    const hold = await trx.one(
      query<Record<string, unknown>>(
        'decided_hold',
        `insert into holds (payout_id, account_id, asset, amount, network_fee, state, ended_at)
         values ($1, $2, $3, $4, $5, $6, case when $6 = 'refused' then now() end) returning ${shown}`,
      ),
      [id, account, asset, amount.toString(), fee.toString(), isThere ? 'placed' : 'refused'],
    );
    if (!isThere) return hold;
    await trx.rows('update balances set available = $3, held = $4 where account_id = $1 and asset = $2', [
      account,
      asset,
      left.available.toString(),
      left.held.toString(),
    ]);
    const { seq } = await trx.one<{ seq: string }>(
      `insert into transfers (op, kind, account_id, asset, amount, network_fee)
       values ('hold:' || $1, 'hold', $2, $3, $4, $5) returning seq`,
      [id, account, asset, amount.toString(), fee.toString()],
    );
    await trx.rows(
      `insert into entries (transfer_seq, account_id, bucket, asset, amount)
       select $1, $2, bucket, $3, sign * $4::numeric from (values ('available', -1), ('held', 1)) as side (bucket, sign)`,
      [seq, account, asset, total.toString()],
    );
    return hold;
  });
}

async function read(db: Db, account: unknown, asset: unknown): Promise<Balance | undefined> {
  const row = await db.maybe<{ available: string; held: string }>(
    'select available, held from balances where account_id = $1 and asset = $2',
    [account, asset],
  );
  return row && { available: BigInt(row.available), held: BigInt(row.held) };
}
