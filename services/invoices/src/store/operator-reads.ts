import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query } from '@quittance/shared/db';

/* What the console of operators shows of chains. */

export type ChainProgress = {
  chain: Chain;
  height: number;
  time: Date;
  knownUntil: Date;
  syncedAt: Date | null;
  contradictions: number;
};

const selectProgress = query<ChainProgress>(
  'operator_chains',
  `select chain, height, time, known_until, synced_at,
     (select count(*)::int from contradictions d where d.chain = c.chain and d.ended_at is null) as contradictions
   from cursors c`,
);

export const chainsProgress = (db: Queryable): Promise<ChainProgress[]> => db.rows(selectProgress);

export type ListedRescan = {
  id: string;
  chain: Chain;
  fromHeight: number;
  nextHeight: number;
  untilHeight: number | null;
  found: number;
  askedAt: Date;
  endedAt: Date | null;
  failure: string | null;
};

const selectRescans = query<ListedRescan>(
  'operator_rescans',
  `select id::text as id, chain, from_height, next_height, until_height, found, asked_at, ended_at, failure
   from rescans order by rescans.id desc limit $1`,
);

/** The last rescans, the latest first. */
export const lastRescans = (db: Queryable, limit: number): Promise<ListedRescan[]> =>
  db.rows(selectRescans, [limit]);
