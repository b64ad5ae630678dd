/**
 * What an operator decides about assets: which merchants may use, and how deep their deposits must be. Those of a replica
 * with a newer release may name assets that this one does not know.
 */
export type AssetSettings = {
  active: readonly string[];
  minConfirmations: ReadonlyMap<string, number>;
};

/** A setting of this replica that is not in force, by the name and in the form that an operator sets it. */
export type Difference = { setting: 'ASSETS_ACTIVE' | 'MIN_CONFIRMATIONS'; here: string; in_force: string };

const written = ({ active, minConfirmations }: AssetSettings) => ({
  ASSETS_ACTIVE: [...new Set(active)].toSorted().join(','),
  MIN_CONFIRMATIONS: [...minConfirmations]
    .map(([asset, count]) => `${asset}=${count}`)
    .toSorted()
    .join(','),
});

/** Which settings differ, and how. */
export function assetSettingsDiffer(here: AssetSettings, inForce: AssetSettings): Difference[] {
  const [own, others] = [written(here), written(inForce)];
  return (['ASSETS_ACTIVE', 'MIN_CONFIRMATIONS'] as const)
    .filter((setting) => own[setting] !== others[setting])
    .map((setting) => ({ setting, here: own[setting], in_force: others[setting] }));
}
