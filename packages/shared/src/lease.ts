import { type Clock, runWithHeartbeat } from './clock.ts';
import { type Db, statement, type Trx } from './db.ts';

/** `ttlMs`: for how long it is taken and prolonged. */
export type Lease = { name: string; holder: string; token: string; ttlMs: number };

export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

const lost = ({ name }: Lease): LeaseLost => new LeaseLost(`the lease ${name} has gone to another holder`);

const take = statement(
  'lease_take',
  `insert into leases (name, holder, token, expires_at)
   values ($1, $2, 1, clock_timestamp() + $3::int * interval '1 millisecond')
   on conflict (name) do update set
     token = leases.token + (leases.holder <> excluded.holder)::int,
     holder = excluded.holder,
     expires_at = excluded.expires_at
   where leases.holder = excluded.holder or leases.expires_at < clock_timestamp()
   returning token`,
);

/** Takes or renews the right to be the only one that does `name`; undefined while another has it. */
export async function takeLease(
  db: Db,
  name: string,
  holder: string,
  ttlMs: number,
): Promise<Lease | undefined> {
  const row = await db.maybe<{ token: string }>(take, [name, holder, ttlMs]);
  return row && { name, holder, token: row.token, ttlMs };
}

/** Prolongs it; throws when it has gone to another holder meanwhile. */
export async function renewLease(db: Db, lease: Lease): Promise<void> {
  const kept = await takeLease(db, lease.name, lease.holder, lease.ttlMs);
  if (kept?.token !== lease.token) throw lost(lease);
}

/**
 * Does the work and prolongs the lease all the while: one answer of a slow node, or one full block, may take longer than
 * a lease lasts, and with two replicas each would take it from the other and neither ever write. A process that is
 * stopped prolongs nothing. `failed` hears why it could not be prolonged: when it is lost, the next one who wants to
 * write with it is refused.
 */
export function withLease<T>(
  { db, clock, failed }: { db: Db; clock: Clock; failed: (error: unknown) => void },
  lease: Lease,
  work: () => Promise<T>,
): Promise<T> {
  const renew = () => renewLease(db, lease).catch(failed);
  return runWithHeartbeat(clock, Math.ceil(lease.ttlMs / 3), renew, work);
}

const fence = statement(
  'lease_fence',
  `select 1 from leases where name = $1 and holder = $2 and token = $3 for share`,
);

/**
 * Makes a transaction fail when its holder was replaced meanwhile (asleep for a minute, say): what an old
 * holder still wants to write is refused. Call it first in the transaction.
 */
export async function assertLease(trx: Trx, lease: Lease): Promise<void> {
  const mine = await trx.maybe(fence, [lease.name, lease.holder, lease.token]);
  if (mine === undefined) throw lost(lease);
}

const prolong = statement(
  'lease_prolong',
  `update leases set expires_at = clock_timestamp() + $3::int * interval '1 millisecond'
   where name = $1 and holder = $2 and expires_at > clock_timestamp() returning token`,
);

/** Prolongs a lease that this holder has, and says whether it has it. One that it gave back or has lost is not taken again. */
export async function prolongLease(db: Db, name: string, holder: string, ttlMs: number): Promise<boolean> {
  return (await db.rows(prolong, [name, holder, ttlMs])).length > 0;
}

const release = statement(
  'lease_release',
  `update leases set expires_at = clock_timestamp() where name = $1 and holder = $2 and token = $3`,
);

/** Gives the right back at once, so that a successor need not wait for it to run out. */
export async function releaseLease(db: Db, lease: Lease): Promise<void> {
  await db.rows(release, [lease.name, lease.holder, lease.token]);
}
