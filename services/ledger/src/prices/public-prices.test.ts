import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import { createLogger } from '@quittance/shared/logger';
import { formatRate } from '@quittance/shared/money';
import { localPort } from '@quittance/testkit/local-port';
import { patient } from '@quittance/testkit/patience';
import { agreeOnRate } from '../domain/quote.ts';
import { fiatApis } from './fiat-apis.ts';
import { priceApis, publicPrices } from './public-prices.ts';

/** What the exchanges answer, by path: a body, or what the server does instead of answering. */
type Play = string | ((response: ServerResponse) => void);

const now = new Date('2026-01-02T03:04:05.000Z');
const logger = createLogger('ledger', 'silent');
const seconds = String(now.getTime() / 1_000);

const answers = {
  '/coinbase/products/ETH-USD/ticker': `{"ask":"2500.13","bid":"2500.11","volume":"5957.1","trade_id":4729088,"price":"2500.12","size":"0.193","time":"2026-01-02T03:04:03.511254Z"}`,
  '/kraken/0/public/Ticker?pair=ETHUSD': `{"error":[],"result":{"XETHZUSD":{"a":["2501.3","1","1.0"],"b":["2501.2","1","1.0"],"c":["2501.25","0.003"],"v":["1","2"],"p":["1","2"],"t":[1,2],"l":["1","2"],"h":["1","2"],"o":"1"}}}`,
  '/kraken/0/public/Ticker?pair=USDCUSD': `{"error":[],"result":{"USDCUSD":{"c":["0.9999","10"]}}}`,
  '/bitstamp/api/v2/ticker/ethusd/': `{"timestamp":"${seconds}","open":"2480","high":"2520","low":"2470","last":"2499.9","volume":"1","vwap":"2500","bid":"2499.8","ask":"2500","side":"0"}`,
  '/bitstamp/api/v2/ticker/usdcusd/': `{"timestamp":"${seconds}","last":"1.00010"}`,
  '/gemini/v1/pubticker/ethusd': `{"bid":"2500.3","ask":"2500.5","volume":{"ETH":"1","USD":"2500","timestamp":${now.getTime() - 1_000}},"last":"2500.40"}`,
  '/gemini/v1/pubticker/usdcusd': `{"last":"1.0000","volume":{"USDC":"1","USD":"1","timestamp":${now.getTime()}}}`,
} as const;
type Path = keyof typeof answers;

let server: Server;
let origin: string;
const plays = new Map<string, Play>();
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const play = plays.get(request.url ?? '');
    if (typeof play === 'function') play(response);
    else if (play === undefined) response.writeHead(404).end('{"message":"NotFound"}');
    else response.writeHead(200, { 'content-type': 'application/json' }).end(play);
  });
  origin = `http://127.0.0.1:${await localPort(server)}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  plays.clear();
  asked.length = 0;
  for (const [path, body] of Object.entries(answers)) plays.set(path, body);
});

function source(assets: readonly AssetSymbol[] = ['ETH'], timeoutMs = 2_000) {
  return publicPrices({
    assets,
    clock: { now: () => now },
    logger,
    apis: priceApis.map((api) => ({ ...api, origin: `${origin}/${api.name}` })),
    currencyApis: [],
    timeoutMs,
  });
}

async function read(assets: readonly AssetSymbol[] = ['ETH'], timeoutMs?: number): Promise<string[]> {
  const readings = await source(assets, timeoutMs).read();
  return readings.map(({ source: name, symbol, rate }) => `${name} ${symbol} ${formatRate(rate)}`);
}

const others = ['kraken ETH 2501.25', 'bitstamp ETH 2499.9', 'gemini ETH 2500.4'];

describe('public price sources', () => {
  it('are all read, each in its own form', async () => {
    expect(await read()).toEqual(['coinbase ETH 2500.12', ...others]);
  });

  it('say when their price was made, where they do', async () => {
    const readings = await source().read();
    expect(readings.map(({ readAt }) => readAt.toISOString())).toEqual([
      '2026-01-02T03:04:03.511Z',
      now.toISOString(),
      now.toISOString(),
      '2026-01-02T03:04:04.000Z',
    ]);
  });

  it('are asked for the active assets only, and for USDC only where it is traded', async () => {
    expect(await read(['USDC_ERC20'])).toEqual([
      'kraken USDC_ERC20 0.9999',
      'bitstamp USDC_ERC20 1.0001',
      'gemini USDC_ERC20 1',
    ]);
    expect(asked.some((path) => path.includes('coinbase'))).toBe(false);
  });

  it('are asked once for what several networks have', async () => {
    expect(await read(['USDC_ERC20', 'ETH', 'USDC_SOL', 'ETH_BASE'])).toEqual(
      expect.arrayContaining([
        'kraken USDC_SOL 0.9999',
        'kraken USDC_ERC20 0.9999',
        'gemini ETH_BASE 2500.4',
      ]),
    );
    expect(new Set(asked).size).toBe(asked.length);
  });

  it('agree with each other', async () => {
    const rate = agreeOnRate('ETH', await source().read(), now, source().sourcesMin);
    expect(rate.ok && formatRate(rate.value.rate)).toBe('2500.26');
  });

  const coinbase: Path = '/coinbase/products/ETH-USD/ticker';
  it.each<[string, Play]>([
    ['an error page', (response) => response.writeHead(200).end('<html>Sorry</html>')],
    ['500', (response) => response.writeHead(500).end(answers[coinbase])],
    ['503 with a body of a price', (response) => response.writeHead(503).end(answers[coinbase])],
    ['429', (response) => response.writeHead(429).end('{"message":"slow down"}')],
    ['a redirect', (response) => response.writeHead(302, { location: origin }).end()],
    ['nothing', ''],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['a price of zero', '{"price":"0","time":"2026-01-02T03:04:05Z"}'],
    ['a negative price', '{"price":"-2500","time":"2026-01-02T03:04:05Z"}'],
    ['a price in words', '{"price":"NaN","time":"2026-01-02T03:04:05Z"}'],
    ['no price', '{"price":null,"time":"2026-01-02T03:04:05Z"}'],
    ['a price of 1e400', '{"price":"1e400","time":"2026-01-02T03:04:05Z"}'],
    ['a list of prices', '{"price":["2500"],"time":"2026-01-02T03:04:05Z"}'],
    ['no time', '{"price":"2500"}'],
    ['a time in words', '{"price":"2500","time":"just now"}'],
    [
      'a cut off body',
      (response) => response.writeHead(200, { 'content-length': '1000' }).end('{"price":"25'),
    ],
    ['a connection cut', (response) => response.destroy()],
    [
      'a megabyte',
      (response) =>
        response
          .writeHead(200)
          .end(`{"price":"2500","time":"2026-01-02T03:04:05Z","x":"${'x'.repeat(1 << 20)}"}`),
    ],
  ])('that answer %s are left out, the others count', async (_what, play) => {
    plays.set(coinbase, play);
    expect(await read()).toEqual(others);
  });

  it.each<[string, Path, string]>([
    ['errors', '/kraken/0/public/Ticker?pair=ETHUSD', '{"error":["EQuery:Unknown asset pair"]}'],
    [
      'two markets',
      '/kraken/0/public/Ticker?pair=ETHUSD',
      '{"error":[],"result":{"A":{"c":["1"]},"B":{"c":["1"]}}}',
    ],
    ['no market', '/kraken/0/public/Ticker?pair=ETHUSD', '{"error":[],"result":{}}'],
    ['no trade', '/kraken/0/public/Ticker?pair=ETHUSD', '{"error":[],"result":{"XETHZUSD":{"c":[]}}}'],
    ['no timestamp', '/bitstamp/api/v2/ticker/ethusd/', '{"last":"2500"}'],
    ['a timestamp in words', '/bitstamp/api/v2/ticker/ethusd/', '{"last":"2500","timestamp":"now"}'],
    ['an error', '/gemini/v1/pubticker/ethusd', '{"result":"error","reason":"System","message":"down"}'],
    ['no volume', '/gemini/v1/pubticker/ethusd', '{"last":"2500"}'],
  ])('in forms of their own, with %s, are left out', async (_what, path, body) => {
    plays.set(path, body);
    expect(await read()).toHaveLength(3);
  });

  it('give the rates of currencies as well, of which each needs two sources', async () => {
    const pairs = fiatApis[0]?.requests[0]?.path ?? '';
    const kraken = { ZEURZUSD: { c: ['1.08'] }, ZUSDZJPY: { c: ['150'] } };
    plays.set(`/kraken${pairs}`, JSON.stringify({ error: [], result: kraken }));
    plays.set('/bitstamp/api/v2/ticker/eurusd/', `{"last":"1.09","timestamp":"${seconds}"}`);
    const currencyApis = fiatApis.map((api) => ({ ...api, origin: `${origin}/${api.name}` }));
    const clock = { now: () => now };
    const { read: readRates, sourcesMin } = publicPrices({ assets: [], clock, logger, currencyApis });
    const readings = await readRates();
    const agreed = (currency: 'EUR' | 'JPY') => agreeOnRate(currency, readings, now, sourcesMin);
    expect(agreed('EUR')).toMatchObject({
      ok: true,
      value: { sources: [{ name: 'kraken' }, { name: 'bitstamp' }] },
    });
    expect(agreed('JPY')).toEqual({ ok: false, refusal: 'too_few_sources' });
    plays.set(
      '/coinbase/v2/exchange-rates?currency=USD',
      '{"data":{"currency":"USD","rates":{"JPY":"151"}}}',
    );
    const [rate] = (await readRates()).filter(({ source: name }) => name === 'coinbase');
    expect(rate && formatRate(rate.rate)).toBe('0.006622516556291391');
  });

  it('that hang, before or within their answer, are left out in time', async () => {
    plays.set(coinbase, () => undefined);
    plays.set('/gemini/v1/pubticker/ethusd', (response) => {
      response.writeHead(200).write('{"last":');
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
    });
    const start = performance.now();
    expect(await read(['ETH'], 300)).toEqual(['kraken ETH 2501.25', 'bitstamp ETH 2499.9']);
    expect(performance.now() - start).toBeLessThan(patient(2_000));
  });

  it('that are all away, or cannot be reached, give nothing', async () => {
    for (const path of plays.keys()) plays.set(path, (response) => response.writeHead(503).end());
    expect(await read()).toEqual([]);
    const apis = priceApis.map((api) => ({ ...api, origin: 'http://127.0.0.1:1' }));
    const currencyApis = fiatApis.map((api) => ({ ...api, origin: 'http://127.0.0.1:1' }));
    const nowhere = { assets: ['ETH'] as const, clock: { now: () => now }, logger, apis, currencyApis };
    expect(await publicPrices(nowhere).read()).toEqual([]);
  });
});
