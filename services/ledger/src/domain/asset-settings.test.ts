import { expect, it } from '@jest/globals';
import { type AssetSettings, assetSettingsDiffer } from './asset-settings.ts';

const settings = (active: string[], counts: Record<string, number>): AssetSettings => ({
  active,
  minConfirmations: new Map(Object.entries(counts)),
});
const inForce = settings(['BTC', 'ETH'], { BTC: 2, ETH: 12 });
const names = { setting: 'ASSETS_ACTIVE', here: 'ETH,SOL', in_force: 'BTC,ETH' };
const counts = { setting: 'MIN_CONFIRMATIONS', here: 'BTC=2,ETH=32', in_force: 'BTC=2,ETH=12' };

it.each([
  ['not in another order, nor by a repetition', ['ETH', 'BTC', 'ETH'], { ETH: 12, BTC: 2 }, []],
  ['by the assets that are active', ['SOL', 'ETH'], { BTC: 2, ETH: 12 }, [names]],
  ['by a number of confirmations', ['BTC', 'ETH'], { BTC: 2, ETH: 32 }, [counts]],
  ['by both', ['SOL', 'ETH'], { ETH: 32, BTC: 2 }, [names, counts]],
])('asset settings differ %s', (_what, active, minConfirmations, differences) => {
  expect(assetSettingsDiffer(settings(active, minConfirmations), inForce)).toEqual(differences);
});
