import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '@quittance/shared/config';
import { newGatewayKeys } from '@quittance/shared/gateway-keys';
import { configSchema } from './config.ts';

const XPUB =
  'xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP';
const env = {
  PORT: '8401',
  DATABASE_URL: 'postgres://a:b@127.0.0.1/c',
  NATS_URL: 'nats://127.0.0.1:4222',
  GATEWAY_PUBLIC_KEY: newGatewayKeys().publicKey,
  PUBLIC_URL: 'https://pay.example/',
  ETHEREUM_RPC_URL: 'http://127.0.0.1:8545',
  ETHEREUM_CHAIN_ID: '1',
  ETHEREUM_USDC_ADDRESS: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  ETHEREUM_XPUB: XPUB,
};
const load = (over: Record<string, string> = {}) => loadConfig('invoices', configSchema, { ...env, ...over });

describe('the configuration', () => {
  it('has sensible defaults', () => {
    expect(load()).toMatchObject({
      SCAN_EVERY_MS: 1_000,
      ADDRESSES_AHEAD: 512,
      PUBLIC_URL: 'https://pay.example',
      TOLERANCE_BPS: 0,
      PAGE_STREAMS_MAX: 50_000,
      chains: [{ chain: 'ethereum', chainId: 1 }],
    });
  });

  it('asks for public keys', () => {
    expect(() => load({ ETHEREUM_XPUB: '' })).toThrow('ETHEREUM_XPUB: is required with ETHEREUM_RPC_URL');
  });
});
