import { type AssetSettings, assetSettingsDiffer, type Difference } from '../domain/asset-settings.ts';
import type { Ports } from '../ports.ts';
import { lockNewestSettings, markSettingsInForce, storeAssetSettings } from '../store/asset-settings.ts';
import { configureAssets } from '../store/quotes.ts';

/** A replica that has not written for this long counts as stopped. */
const SILENT_AFTER_MS = 20_000;

/**
 * Replicas may be configured differently, during a rolling restart or by mistake. The newest settings of the running
 * replicas are in force for all: a new replica brings its settings into force, an old replica that starts again changes
 * nothing, and former settings return when the last replica with newer ones has stopped.
 * @returns how this replica is configured otherwise; empty when its settings are in force.
 * @param rewrite at a start they are written again, because an older release that ran in between does not know of this
 */
export async function applyAssetSettings(
  { db }: Pick<Ports, 'db'>,
  replica: string,
  own: AssetSettings,
  rewrite: boolean,
): Promise<Difference[]> {
  await storeAssetSettings(db, replica, own, SILENT_AFTER_MS);
  return await db.transaction(async (trx) => {
    const { id, settings, inForce } = await lockNewestSettings(trx);
    if (rewrite || !inForce) {
      await configureAssets(trx, settings.active, settings.minConfirmations);
      await markSettingsInForce(trx, id);
    }
    return assetSettingsDiffer(own, settings);
  });
}
