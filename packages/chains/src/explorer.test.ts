import { expect, test } from '@jest/globals';
import { explorerUrl } from './explorer.ts';

const bitcoin = { kind: 'bitcoin', chain: 'bitcoin', rpcUrls: [] } as const;
const base = { kind: 'evm', chain: 'base', rpcUrls: [] } as const;
const solana = { kind: 'solana', chain: 'solana', rpcUrls: [] } as const;

test.each([
  [{ ...bitcoin, network: 'mainnet' }, 'https://mempool.space/tx/ab'],
  [{ ...bitcoin, network: 'regtest' }, null],
  [{ ...base, chainId: 8_453 }, 'https://basescan.org/tx/ab'],
  [{ ...base, chainId: 31_337 }, null],
  [{ ...solana, network: 'devnet' }, 'https://explorer.solana.com/tx/ab?cluster=devnet'],
  [{ ...base, chainId: 31_337, explorerUrl: 'https://scan.example/#/{tx}' }, 'https://scan.example/#/ab'],
] as const)('the transaction ab of %j is shown at %s', (settings, url) => {
  expect(explorerUrl(settings, 'ab')).toBe(url);
});
