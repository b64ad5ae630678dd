import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger, type Logger } from '@quittance/shared/logger';
import { formatRate } from '@quittance/shared/money';
import { filePrices } from './file-prices.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const logger = createLogger('ledger', 'silent');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prices-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function pricesIn(text: string) {
  const path = join(folder, 'prices.json');
  await writeFile(path, text);
  const readings = await filePrices({ path, assets: ['ETH'], clock: { now: () => now }, logger }).read();
  return readings.map(({ symbol, rate }) => `${symbol} ${formatRate(rate)}`);
}

describe('a price file', () => {
  it('gives a rate for each asset and currency in it, as texts or numbers', async () => {
    expect(await pricesIn('{"ETH":"2500.123456789012345678","USDC_ERC20":1,"EUR":"1.08"}')).toEqual([
      'ETH 2500.123456789012345678',
      'USDC_ERC20 1',
      'EUR 1.08',
    ]);
  });

  it('is read again each time', async () => {
    const path = join(folder, 'changing.json');
    const source = filePrices({ path, assets: ['ETH'], clock: { now: () => now }, logger });
    expect(await source.read()).toEqual([]);
    await writeFile(path, '{"ETH":"2500"}');
    expect(await source.read()).toMatchObject([{ source: 'file', symbol: 'ETH', readAt: now }]);
    await writeFile(path, '{"ETH":');
    expect(await source.read()).toEqual([]);
    await writeFile(path, '{"ETH":"2600"}');
    expect((await source.read()).map(({ rate }) => formatRate(rate))).toEqual(['2600']);
  });

  it.each([
    ['half written', '{"ETH":"25'],
    ['a list', '["2500"]'],
    ['a price of zero', '{"ETH":"0"}'],
    ['a negative price', '{"ETH":"-1"}'],
    ['a price in words', '{"ETH":"much"}'],
    ['a nested price', '{"ETH":{"usd":"1"}}'],
    ['an asset we do not know', '{"ETH":"2500","DOGE":"1"}'],
    ['a rate of the dollar', '{"ETH":"2500","USD":"1"}'],
    ['empty', ''],
  ])('gives nothing when it is %s', async (_what, text) => {
    expect(await pricesIn(text)).toEqual([]);
  });

  it('says, once, which assets it has no price of', async () => {
    const said: string[] = [];
    const listening = { ...logger, error: (_: object, text: string) => said.push(text) } as unknown as Logger;
    const path = join(folder, 'short.json');
    const assets = ['ETH', 'SOL', 'USDC_SOL'] as const;
    const source = filePrices({ path, assets, clock: { now: () => now }, logger: listening });
    const prices = [
      '{"ETH":"2500"}',
      '{"ETH":"2500","SOL":"150"}',
      '{"ETH":"2500","SOL":"150","USDC_SOL":"1"}',
    ];
    for (const [i, text] of prices.entries()) {
      await writeFile(path, text);
      for (let times = 0; times < 3; times++) expect(await source.read()).toHaveLength(i + 1);
    }
    expect(said).toEqual([
      'the price file names no price of SOL, USDC_SOL',
      'the price file names no price of USDC_SOL',
    ]);
  });
});
