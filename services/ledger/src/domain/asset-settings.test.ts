import { expect, test } from '@jest/globals';
import { assetSettingsDiffer } from './asset-settings.ts';

const settings = (active: string[], ...counts: [string, number][]) => ({
  active,
  minConfirmations: new Map(counts),
});

test('asset settings in another order, or with an asset named twice, are the same', () => {
  const here = settings(['BTC', 'ETH', 'BTC'], ['BTC', 2], ['ETH', 12]);
  expect(assetSettingsDiffer(here, settings(['ETH', 'BTC'], ['ETH', 12], ['BTC', 2]))).toEqual([]);
});

test('each asset setting that differs is named with both values', () => {
  const here = settings(['BTC', 'ETH'], ['BTC', 2]);
  const [active, counts] = [
    { setting: 'ASSETS_ACTIVE', here: 'BTC,ETH', in_force: 'BTC' },
    { setting: 'MIN_CONFIRMATIONS', here: 'BTC=2', in_force: 'BTC=3' },
  ];
  expect(assetSettingsDiffer(here, settings(['BTC'], ['BTC', 2]))).toEqual([active]);
  expect(assetSettingsDiffer(here, settings(['BTC', 'ETH'], ['BTC', 3]))).toEqual([counts]);
  expect(assetSettingsDiffer(here, settings(['BTC'], ['BTC', 3]))).toEqual([active, counts]);
});
