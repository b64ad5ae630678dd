import { invariant } from '@quittance/shared/result';
import { type AssetSettings, assetSettingsDiffer, type Difference } from '../domain/asset-settings.ts';
import type { Ports } from '../ports.ts';
import {
  lockAssetSettings,
  markSettingsInForce,
  newestAssetSettings,
  storeAssetSettings,
} from '../store/asset-settings.ts';
import { configureAssets } from '../store/quotes.ts';

/** A replica that has not written for this long counts as stopped. */
const SILENT_AFTER_MS = 20_000;

export type SettingsState = {
  /** How this replica is configured otherwise; empty when its settings are in force. */
  differences: readonly Difference[];
};

/**
 * Replicas may be configured differently, during a rolling restart or by mistake. The newest settings of the running
 * replicas are in force for all: a new replica brings its settings into force, an old replica that starts again changes
 * nothing, and former settings return when the last replica with newer ones has stopped.
 * @param rewrite at a start they are written again, because an older release that ran in between does not know of this
 */
export async function applyAssetSettings(
  { db }: Pick<Ports, 'db'>,
  replica: string,
  own: AssetSettings,
  rewrite: boolean,
): Promise<SettingsState> {
  await storeAssetSettings(db, replica, own, SILENT_AFTER_MS);
  return await db.transaction(async (trx) => {
    await lockAssetSettings(trx);
    const newest = await newestAssetSettings(trx);
    invariant(newest !== undefined, 'this replica has stored its settings');
    const { id, settings, inForce } = newest;
    if (rewrite || !inForce) {
      await configureAssets(trx, settings.active, settings.minConfirmations);
      await markSettingsInForce(trx, id);
    }
    return { differences: assetSettingsDiffer(own, settings) };
  });
}
