import { describe, expect, it } from '@jest/globals';
import { ConfigError, loadConfig } from '@quittance/shared/config';
import { newGatewayKeys } from '@quittance/shared/gateway-keys';
import { configSchema } from './config.ts';

const right = {
  PORT: '4003',
  DATABASE_URL: 'postgres://ledger:secret@localhost/quittance',
  NATS_URL: 'nats://localhost:4222',
  GATEWAY_PUBLIC_KEY: newGatewayKeys().publicKey,
  PUBLIC_URL: 'http://localhost:4000',
  PRICES: 'public',
};
const load = (env: Record<string, string | undefined>) => loadConfig('ledger', configSchema, env);

function problems(env: Record<string, string | undefined>): readonly string[] {
  try {
    load(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('the ledger’s settings', () => {
  it('have defaults where there is a sensible one', () => {
    expect(load(right)).toMatchObject({
      PRICES: { from: 'public' },
      QUOTES_EVERY_MS: 15_000,
      ASSETS_ACTIVE: ['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'],
      MIN_CONFIRMATIONS: new Map(),
    });
  });

  it('take prices from a file, a list of assets, and confirmations for some of them', () => {
    const given = {
      PRICES: 'file:/etc/prices.json',
      ASSETS_ACTIVE: 'BTC, ETH',
      MIN_CONFIRMATIONS: 'BTC=3, ETH=32,',
    };
    expect(load({ ...right, ...given })).toMatchObject({
      PRICES: { from: 'file', path: '/etc/prices.json' },
      ASSETS_ACTIVE: ['BTC', 'ETH'],
      MIN_CONFIRMATIONS: new Map([
        ['BTC', 3],
        ['ETH', 32],
      ]),
    });
  });

  it.each(['BTC', 'BTC=0', 'BTC=-1', 'BTC=1.5', 'BTC=10000', 'DOGE=1', 'BTC=1,BTC=2', '=1', 'BTC:1'])(
    'refuse confirmations such as %s',
    (text) => {
      expect(problems({ ...right, MIN_CONFIRMATIONS: text })).toEqual([
        expect.stringMatching(/^MIN_CONFIRMATIONS: ".*" is not an asset, given once/),
      ]);
    },
  );

  it('are all named when they are wrong', () => {
    expect(
      problems({ ...right, PRICES: 'prices.json', ASSETS_ACTIVE: 'ETH,DOGE', QUOTES_EVERY_MS: '0' }),
    ).toEqual([
      expect.stringMatching(/^PRICES: must be public or file:/),
      expect.stringMatching(/^QUOTES_EVERY_MS: /),
      'ASSETS_ACTIVE: knows no asset DOGE',
    ]);
    expect(problems({ ...right, PRICES: undefined })).toEqual(['PRICES: is required']);
  });
});
