import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import { z } from 'zod';
import type { AssetSettings } from '../domain/asset-settings.ts';

/** A newer release, which runs beside this one, may name assets that are not known here. */
const storedSchema = z.object({
  active: z.array(z.string()),
  min_confirmations: z.record(z.string(), z.int().positive()),
});

/** Settings that differ only in their order are equal. */
const stored = ({ active, minConfirmations }: AssetSettings): string =>
  JSON.stringify({
    active: [...new Set(active)].toSorted(),
    min_confirmations: Object.fromEntries(minConfirmations),
  });

const insertSettings = statement(
  'asset_settings_insert',
  `insert into asset_settings (settings) select $1::jsonb
   where not exists (select 1 from asset_settings where settings = $1::jsonb) on conflict do nothing`,
);

const upsertReplica = statement(
  'asset_settings_replicas_upsert',
  `insert into asset_settings_replicas (replica, settings_id)
   select $1, id from asset_settings where settings = $2::jsonb
   on conflict (replica) do update set settings_id = excluded.settings_id, seen_at = clock_timestamp()`,
);

const deleteSilent = statement(
  'asset_settings_replicas_delete_silent',
  `delete from asset_settings_replicas where seen_at < clock_timestamp() - $1::int * interval '1 millisecond'`,
);

/** Stores the settings of this replica, and deletes replicas that have not written for so long. */
export async function storeAssetSettings(
  db: Queryable,
  replica: string,
  settings: AssetSettings,
  silentAfterMs: number,
): Promise<void> {
  await db.rows(insertSettings, [stored(settings)]);
  await db.rows(upsertReplica, [replica, stored(settings)]);
  await db.rows(deleteSilent, [silentAfterMs]);
}

const deleteReplica = statement(
  'asset_settings_replicas_delete',
  `delete from asset_settings_replicas where replica = $1`,
);

/** A replica that stops in order no longer counts. */
export async function deleteReplicaRow(db: Queryable, replica: string): Promise<void> {
  await db.rows(deleteReplica, [replica]);
}

const lock = statement(
  'asset_settings_lock',
  `select pg_advisory_xact_lock(hashtextextended('quittance asset settings', 0))`,
);

const selectNewest = query<{ id: string; settings: unknown; inForce: boolean }>(
  'asset_settings_newest',
  `select id, settings, id is not distinct from (
     select id from asset_settings where in_force_since is not null order by in_force_since desc limit 1) as in_force
   from asset_settings where id in (select settings_id from asset_settings_replicas)
   order by id desc limit 1`,
);

/** The newest settings of the running replicas, locked: one replica at a time decides which settings are in force. */
export async function lockNewestSettings(
  trx: Trx,
): Promise<{ id: string; settings: AssetSettings; inForce: boolean }> {
  await trx.rows(lock);
  const { id, settings, inForce } = await trx.one(selectNewest);
  const { active, min_confirmations } = storedSchema.parse(settings);
  return { id, settings: { active, minConfirmations: new Map(Object.entries(min_confirmations)) }, inForce };
}

const markInForce = statement(
  'asset_settings_mark_in_force',
  `update asset_settings set in_force_since = clock_timestamp() where id = $1`,
);

/** Called after these settings were written to the assets. */
export async function markSettingsInForce(db: Queryable, id: string): Promise<void> {
  await db.rows(markInForce, [id]);
}
