import type { ServerResponse } from 'node:http';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { StreamRefusal } from '../event-streams.ts';
import type { Ports } from '../ports.ts';
import { extentOf } from '../store-events.ts';

export type StreamWanted = {
  /** What the client has had; undefined: it wants what happens from now on. */
  after: number | undefined;
  kinds: readonly string[] | null;
};

/** Begins to write an account's events to a client that stays; refuses a place in the log that is yet to come. */
export async function openEventStream(
  { db, streams }: Pick<Ports, 'db' | 'streams'>,
  res: ServerResponse,
  account: AccountId,
  { after, kinds }: StreamWanted,
): Promise<Result<null, StreamRefusal | { last: string }>> {
  const { lastSequence: last } = await extentOf(db, account);
  if (after !== undefined && BigInt(after) > BigInt(last)) return refuse({ last });
  const refused = streams.open(res, { account, kinds, after: String(after ?? last) });
  return refused === undefined ? ok(null) : refuse(refused);
}
