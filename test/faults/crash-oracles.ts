import type { Service } from '@quittance/shared/events';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Receiver } from '@quittance/testkit/receiver';

/** What is looked at: a part of CrashFixture. */
type Observed = {
  quittance: Quittance;
  receiver: Receiver;
  signed: Map<string, string>;
  deathsOf(service: Service): number;
};

/** What payouts publishes of a payout that has ended, in this order. */
const published: Readonly<Record<string, readonly string[]>> = {
  mined: ['payout.created', 'hold.settle', 'payout.completed'],
  failed: ['payout.created', 'hold.release', 'payout.failed'],
  voided: ['hold.void'],
  refused: [],
};

/** Each row is an effect that happened twice, or for which another one is missing. */
const twiceSql = `
  select 'payout ' || p.id || ' is voided and keeps its idempotency key' as what
  from payouts.payouts p join payouts.idempotency_keys k on k.resource_id = p.id::text where p.status = 'voided'
  union all
  select 'the network fee of ' || (payload->>'tx_hash') || ' was published ' || count(*) || ' times'
  from payouts.outbox where kind = 'network.spent' group by payload->>'tx_hash' having count(*) > 1
  union all
  select 'payout ' || m.payout_id || ' has ' || count(*) || ' replacement groups'
  from payouts.payments m group by m.payout_id having count(*) > 1
  union all
  select 'wallet ' || wallet || ' signed nonces ' || min(nonce) || ' to ' || max(nonce) || ' and left some out'
  from payouts.transactions where chain = 'ethereum' group by wallet
  having max(nonce) - min(nonce) + 1 <> count(distinct nonce)
  union all
  select 'UTXO ' || (spent->>'outpoint') || ' was spent by ' || count(*) || ' transactions'
  from payouts.transactions, jsonb_array_elements(terms->'utxos') as spent
  where chain = 'bitcoin' and state = 'mined' group by spent->>'outpoint' having count(*) > 1
  union all
  select 'deposit ' || (payload->>'deposit_id') || ' was published as settled ' || count(*) || ' times'
  from invoices.outbox where kind = 'deposit.settled' group by payload->>'deposit_id' having count(*) > 1
  union all
  select 'version ' || (payload->>'version') || ' of refund ' || (payload->>'refund_id') || ' was published ' || count(*) || ' times'
  from payouts.outbox where kind = 'refund.updated' group by payload->>'refund_id', payload->>'version' having count(*) > 1`;

/** What was signed stays what it was. Remembers what is signed by now. */
export async function changedBytes({
  quittance,
  signed,
}: Pick<Observed, 'quittance' | 'signed'>): Promise<string[]> {
  const rows = await quittance.db.rows<{ id: string; raw: string }>(
    'select id, raw from payouts.transactions',
  );
  const now = new Map(rows.map(({ id, raw }) => [id, raw]));
  const changed = [...signed].filter(([id, raw]) => now.get(id) !== raw);
  for (const [id, raw] of now) signed.set(id, raw);
  return changed.map(([id]) => `transaction ${id} is not what was signed`);
}

/** The effects of the services' events, each of which a crash must neither double nor lose. */
export async function crashViolations(fixture: Observed): Promise<string[]> {
  const { db } = fixture.quittance;
  const twice = await db.rows<{ what: string }>(twiceSql);
  const ended = await db.rows<{ id: string; status: string; kinds: string[] }>(
    `select p.id, p.status, coalesce(array_agg(o.kind order by o.seq) filter (where o.kind is not null), '{}') as kinds
     from payouts.payouts p
     left join payouts.outbox o on p.id::text in (o.payload->>'payout_id', o.payload->>'resource_id')
       and o.kind <> 'refund.updated'
     where p.status = any($1) group by p.id, p.status`,
    [Object.keys(published)],
  );
  return [
    ...twice.map(({ what }) => what),
    ...ended
      .filter(({ status, kinds }) => kinds.join() !== published[status]?.join())
      .map(({ id, status, kinds }) => `payout ${id} is ${status} and published ${kinds.join(', ')}`),
    ...(await deliveriesNotOnce(fixture)),
    ...(await changedBytes(fixture)),
  ];
}

/** Each event arrives under its own id, and again only where a death of webhooks kept an attempt from being recorded. */
async function deliveriesNotOnce({ quittance, receiver, deathsOf }: Observed): Promise<string[]> {
  const rows = await quittance.db.rows<{ id: string; attempts: number }>(
    `select e.id, count(a.number)::int as attempts
     from webhooks.deliveries d join webhooks.endpoints p on p.key = d.endpoint_key
     join webhooks.events e on e.account_id = p.account_id and e.sequence = d.sequence
     left join webhooks.attempts a on a.endpoint_key = d.endpoint_key and a.sequence = d.sequence
     where d.state = 'delivered' group by e.id`,
  );
  const arrived = Map.groupBy(receiver.received, ({ headers }) => String(headers['webhook-id']));
  return rows
    .map(({ id, attempts }) => ({ id, attempts, times: arrived.get(id)?.length ?? 0 }))
    .filter(({ attempts, times }) => times === 0 || times > attempts + deathsOf('webhooks'))
    .map(({ id, attempts, times }) => `event ${id} arrived ${times} times in ${attempts} recorded attempts`);
}
