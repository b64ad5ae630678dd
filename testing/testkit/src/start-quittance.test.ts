import { expect, test } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Service } from '@quittance/shared/events';
import type { Asset, ServiceName } from './public.ts';
import { type QuittanceOptions, startQuittance } from './start-quittance.ts';

test.each<[QuittanceOptions, string]>([
  [{ confirmations: 0 }, 'confirmations is 0: it must be a whole number from 1 to 1000'],
  [{ confirmations: 1.5 }, 'confirmations is 1.5: it must be a whole number from 1 to 1000'],
  [{ blockEverySeconds: -1 }, 'blockEverySeconds is -1: it may be 0 or more'],
  [{ blockEverySeconds: Number.NaN }, 'blockEverySeconds is NaN: it may be 0 or more'],
  [
    { engines: 'docker' as 'containers' },
    'engines (or QUITTANCE_ENGINES) is docker: it may be embedded or containers',
  ],
  [
    { engines: 'containers', chains: ['solana'] },
    "engines: 'containers' has no node of Solana; engines: 'embedded' has",
  ],
])('what cannot be meant is refused before anything starts: %j', async (options, message) => {
  await expect(startQuittance(options)).rejects.toThrow(new Error(message));
});

type Same<A, B> = [A, B] extends [B, A] ? true : false;

test('the public types name the assets and services that the project has', () => {
  const same: [Same<Asset, AssetSymbol>, Same<ServiceName, Service>] = [true, true];
  expect(same).toEqual([true, true]);
});
