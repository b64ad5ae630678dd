import { beforeEach, expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { AssetSettings } from '../src/domain/asset-settings.ts';
import { applyAssetSettings } from '../src/operations/apply-asset-settings.ts';
import { deleteReplicaRow } from '../src/store/asset-settings.ts';
import { anAccount, askHttp, openLedger } from './ledger-fixture.ts';

/** Replicas that are configured differently, as in a rolling restart. */

const { fixture } = openLedger({ replicas: 0 });
beforeEach(async () => {
  await fixture.admin.rows('delete from asset_settings_replicas');
  await fixture.admin.rows('delete from asset_settings');
});

type Known = { active: AssetSymbol[]; minConfirmations: Map<AssetSymbol, number> };
const former: Known = { active: ['ETH'], minConfirmations: new Map([['ETH', 12]]) };
const changed: Known = { active: ['BTC', 'ETH'], minConfirmations: new Map([['ETH', 32]]) };
const start = (replica: string, settings: AssetSettings) =>
  applyAssetSettings(fixture, replica, settings, true);
const again = (replica: string, settings: AssetSettings) =>
  applyAssetSettings(fixture, replica, settings, false);

async function inForce(): Promise<string> {
  const rows = await fixture.admin.rows<{ symbol: string; set: number | null }>(
    'select symbol, min_confirmations_set as set from assets where active order by symbol',
  );
  return rows.map(({ symbol, set }) => `${symbol}=${set ?? ''}`).join(',');
}

it('new asset settings win in a rolling restart, and an old replica that starts again does not change them back', async () => {
  await start('a', former);
  await start('b', former);
  expect(await inForce()).toBe('ETH=12');
  await start('a again', changed);
  expect(await inForce()).toBe('BTC=,ETH=32');

  const old = await start('b again', former);
  expect(await inForce()).toBe('BTC=,ETH=32');
  expect(old).toEqual([
    { setting: 'ASSETS_ACTIVE', here: 'ETH', in_force: 'BTC,ETH' },
    { setting: 'MIN_CONFIRMATIONS', here: 'ETH=12', in_force: 'ETH=32' },
  ]);
  expect(await again('b', former)).toHaveLength(2);
  expect(await start('b last', changed)).toEqual([]);
});

it('former asset settings return when no replica with newer ones runs any more, stopped or dead', async () => {
  await start('a', former);
  await start('b', changed);
  await start('c', former);
  expect(await inForce()).toBe('BTC=,ETH=32');
  await deleteReplicaRow(fixture.db, 'b');
  const agreed = await again('c', former);
  expect(agreed).toEqual([]);
  expect(await inForce()).toBe('ETH=12');

  await start('d', changed);
  await fixture.admin.rows(
    `update asset_settings_replicas set seen_at = now() - interval '21 seconds' where replica = 'd'`,
  );
  await again('c', former);
  expect(await inForce()).toBe('ETH=12');
});

it('a replica of an older release starts and goes on beside a newer one whose settings name an asset it does not know', async () => {
  const newer: AssetSettings = {
    active: ['ETH', 'XRP'],
    minConfirmations: new Map([
      ['ETH', 32],
      ['XRP', 5],
    ]),
  };
  await start('a', former);
  await start('b', newer);
  const differences = [
    { setting: 'ASSETS_ACTIVE', here: 'ETH', in_force: 'ETH,XRP' },
    { setting: 'MIN_CONFIRMATIONS', here: 'ETH=12', in_force: 'ETH=32,XRP=5' },
  ];
  expect(await again('a', former)).toEqual(differences);
  expect(await start('a again', former)).toEqual(differences);
  expect(await inForce()).toBe('ETH=32');
});

it('asset settings are the same in whatever order and how often they name an asset, and are not written again while they stand', async () => {
  const first = await start('a', changed);
  const reordered = { ...changed, active: ['ETH', ...changed.active.toReversed()] };
  expect(await start('b', reordered)).toEqual(first);
  await fixture.admin.rows('update assets set min_confirmations_set = 7 where symbol = $1', ['ETH']);
  expect(await again('b', changed)).toEqual(first);
  expect(await inForce()).toBe('BTC=,ETH=7');
});

it('replicas that start at once with different asset settings agree on one of them', async () => {
  const all = Array.from({ length: 8 }, (_, i) => [`replica ${i}`, i % 2 === 0 ? former : changed] as const);
  await Promise.all(all.map((one) => start(...one)));
  const settled = await Promise.all(all.map((one) => again(...one)));
  const isFormer = settled[0]?.length === 0;
  expect(await inForce()).toBe(isFormer ? 'ETH=12' : 'BTC=,ETH=32');
  expect(settled.filter((differences) => differences.length > 0)).toHaveLength(4);
});

it('a ledger with older asset settings starts, and the catalogue follows the newer ones', async () => {
  const older = { ASSETS_ACTIVE: former.active.slice(), MIN_CONFIRMATIONS: new Map(former.minConfirmations) };
  const newer = {
    ASSETS_ACTIVE: changed.active.slice(),
    MIN_CONFIRMATIONS: new Map(changed.minConfirmations),
  };
  const first = await fixture.start({ config: older });
  const second = await fixture.start({ config: newer });
  await first.stop();
  const restarted = await fixture.start({ config: older });
  expect(await inForce()).toBe('BTC=,ETH=32');
  const { body } = await askHttp(second, '/api/assets', anAccount());
  expect(body).toMatchObject({
    data: [
      { symbol: 'BTC', network_fee: '0.0002', min_confirmations: 2 },
      { symbol: 'ETH', network_fee: '0.0005', min_confirmations: 32 },
    ],
  });
  await Promise.all([second.stop(), restarted.stop()]);
  expect(await fixture.admin.rows('select 1 from asset_settings_replicas')).toEqual([]);
});
