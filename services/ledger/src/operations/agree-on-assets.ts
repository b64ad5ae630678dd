import { invariant } from '@quittance/shared/result';
import { type AssetSettings, assetSettingsDiffer, type Difference } from '../domain/asset-settings.ts';
import type { Ports } from '../ports.ts';
import {
  lockAssetSettings,
  markSettingsInForce,
  newestAssetSettings,
  noteAssetSettings,
} from '../store/asset-settings.ts';
import { configureAssets } from '../store/quotes.ts';

/** A replica that was not heard of for so long is taken to be gone. */
const GONE_AFTER_MS = 20_000;

export type Agreement = {
  /** What this replica is configured with instead; empty when its own are in force. */
  differences: readonly Difference[];
};

/**
 * Replicas may be configured differently, for the time of a rolling restart or by mistake: of those that run, the
 * settings that came last are in force for all. So new ones win with the first replica that has them, an old replica
 * that starts again changes nothing back, and former ones return when the last replica with newer ones has gone.
 * @param anew at a start they are written again, because an older version that ran meanwhile knows nothing of this
 */
export async function agreeOnAssets(
  { db }: Pick<Ports, 'db'>,
  replica: string,
  own: AssetSettings,
  anew: boolean,
): Promise<Agreement> {
  await noteAssetSettings(db, replica, own, GONE_AFTER_MS);
  return await db.transaction(async (trx) => {
    await lockAssetSettings(trx);
    const newest = await newestAssetSettings(trx);
    invariant(newest !== undefined, 'this replica has written down what it runs with');
    const { id, settings, inForce } = newest;
    if (anew || !inForce) {
      await configureAssets(trx, settings.active, settings.minConfirmations);
      await markSettingsInForce(trx, id);
    }
    return { differences: assetSettingsDiffer(own, settings) };
  });
}
