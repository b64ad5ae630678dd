import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openWallet } from '@quittance/chains/solana/wallet';
import { type BitcoindHandle, startBitcoind } from '@quittance/engines/bitcoind';
import { type SurfpoolHandle, startSurfpool } from '@quittance/engines/surfpool';
import { sleep } from '@quittance/shared/clock';
import { newAccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { payOnSolana, prepareSolana } from '@quittance/stack/solana';
import { api } from '@quittance/testkit/api';
import { aQuote } from '@quittance/testkit/builders';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { type InvoicesService, startInvoices } from '../src/service.ts';
import { configOf, confirmKeys, settings, TPUB } from './replica.ts';

type Asset = 'BTC' | 'SOL' | 'USDC_SOL';

/** On two real nodes, mempool payments and their fate are read as on the scripted chains. */
const WITHIN_MS = 60_000;
/** Fast, but a payment is visible for some seconds before its block is final. */
const SLOT_MS = 150;
const OUTAGE_MS = 500;
const HANG_MS = 2 * OUTAGE_MS;

let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let bitcoin: BitcoindHandle;
let solana: SurfpoolHandle;
let service: InvoicesService;
let mint: string;
const folder = mkdtempSync(join(tmpdir(), 'quittance-invoices-'));

beforeAll(async () => {
  [database, nats, bitcoin, solana] = await Promise.all([
    testDatabase(),
    testNats(),
    startBitcoind({ dataDir: join(folder, 'bitcoin'), port: 0 }),
    startSurfpool({ port: 0, wsPort: 0, slotMs: SLOT_MS }),
  ]);
  const wallet = openWallet('legal winner thank year wave sausage worth useful legal winner thank yellow');
  const hot = { address: wallet.depositAddress(99), lamports: 1_000_000_000n, usdc: 0n };
  mint = await prepareSolana(solana.rpcUrl, hot);
  await confirmKeys(database, settings.bitcoin);
  const config = configOf(database, nats.url, {
    BITCOIN_RPC_URL: bitcoin.rpcUrl,
    BITCOIN_NETWORK: 'regtest',
    BITCOIN_XPUB: TPUB,
    SOLANA_RPC_URL: solana.rpcUrl,
    SOLANA_NETWORK: 'local',
    SOLANA_USDC_MINT: mint,
    SCAN_EVERY_MS: '100',
  });
  const quotes = {
    latest: (asset: Asset) =>
      aQuote({ asset, usd_rate: '100', min_confirmations: asset === 'BTC' ? 2 : 1, dust: '1000' }),
  };
  service = await startInvoices(config, {
    logger: createLogger('test', 'silent'),
    quotes: { latest: quotes.latest, fresh: quotes.latest } as never,
  });
  await service.ports.db.rows(
    `insert into address_pool select 'solana', i - 1, address from unnest($1::text[]) with ordinality as g(address, i)`,
    [[0, 1, 2, 3].map((index) => wallet.depositAddress(index))],
  );
  await eventually(async () => {
    const rows = await service.ports.db.rows('select 1 from cursors where synced_at is not null');
    expect(rows).toHaveLength(2);
  }, WITHIN_MS);
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([bitcoin?.stop(), solana?.stop(), nats?.stop()]);
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function anInvoice(asset: Asset) {
  const call = (method: 'GET' | 'POST', path: string, body?: object) =>
    api(service.port, method, path, { account, body, now: new Date() });
  const account = newAccountId(new Date());
  const { body } = await call('POST', '/api/invoices', { asset, amount: 25 });
  const { id, address } = body.data;
  return {
    id: id as string,
    read: async () => (await call('GET', `/api/invoices/${id}`)).body,
    to: address.address as string,
    becomes: (wanted: object) =>
      eventually(async () => {
        expect((await call('GET', `/api/invoices/${id}`)).body).toMatchObject(wanted);
      }, WITHIN_MS),
    kinds: async () =>
      (
        await service.ports.db.rows<{ kind: string }>(
          `select kind from outbox where payload->>'resource_id' = $1 or payload->>'invoice_id' = $1 order by seq`,
          [id],
        )
      )
        .map(({ kind }) => kind)
        .slice(1),
  };
}

it('Bitcoin: records a payment that is replaced, mined, dropped and mined again', async () => {
  const invoice = await anInvoice('BTC');
  const first = await bitcoin.pay(invoice.to, '0.25');
  await invoice.becomes({
    status: 'confirmed',
    pending_amount: '0.25',
    payments: [{ tx_hash: first, status: 'pending', confirmations: 0 }],
  });
  expect(await invoice.kinds()).toEqual([]);
  const { txid } = await bitcoin.rpc<{ txid: string }>('bumpfee', first);
  await invoice.becomes({
    status: 'confirmed',
    pending_amount: '0.25',
    payments: [
      { tx_hash: first, status: 'reversed' },
      { tx_hash: txid, status: 'pending' },
    ],
  });
  await bitcoin.mine(1);
  await invoice.becomes({ payments: [{ status: 'reversed' }, { tx_hash: txid, confirmations: 1 }] });
  await bitcoin.reorganise(1);
  await invoice.becomes({
    status: 'confirmed',
    payments: [{ status: 'reversed' }, { tx_hash: txid, confirmations: 0, block_height: null }],
  });
  await bitcoin.mine(2);
  await invoice.becomes({ status: 'confirmed', paid_amount: '0.25', pending_amount: '0' });
  expect(await invoice.kinds()).toEqual([
    'invoice.payment_reversed',
    'invoice.confirmed',
    'invoice.payment_reversed',
    'deposit.settled',
  ]);
});

it('Solana: payments of SOL and USDC are seen when their block is confirmed, and credited when it is final', async () => {
  const invoices = [await anInvoice('SOL'), await anInvoice('USDC_SOL')] as const;
  const node = { rpc: solana.rpcUrl, tokens: { USDC_SOL: mint } };
  const tx = await payOnSolana(node, [
    { asset: 'SOL', to: invoices[0].to, amount: 250_000_000n },
    { asset: 'USDC_SOL', to: invoices[1].to, amount: 250_000n },
  ]);
  const seen = invoices.map((invoice) =>
    invoice.becomes({
      status: 'confirmed',
      pending_amount: '0.25',
      payments: [{ tx_hash: tx, status: 'pending', confirmations: 0 }],
    }),
  );
  await Promise.all(seen);
  for (const invoice of invoices) expect(await invoice.kinds()).toEqual([]);
  for (const invoice of invoices) {
    await invoice.becomes({
      status: 'confirmed',
      paid_amount: '0.25',
      pending_amount: '0',
      payments: [{ tx_hash: tx, status: 'confirmed' }],
    });
    expect(await invoice.kinds()).toEqual(['deposit.settled', 'invoice.confirmed']);
  }
});

it('extends an invoice whose nodes are stopped over its expiry for longer than an outage must be', async () => {
  for (const watched of service.ports.chains.values()) watched.outageMs = OUTAGE_MS;
  const invoices = await Promise.all([anInvoice('BTC'), anInvoice('SOL')]);
  const ids = invoices.map(({ id }) => id);
  const engines = [bitcoin, solana];
  for (const engine of engines) engine.pause();
  const stoppedAt = Date.now();
  const endsAt = new Date(stoppedAt + OUTAGE_MS / 2);
  try {
    await service.ports.db.rows('update invoices set expires_at = $2 where id = any($1::text[])', [
      ids,
      endsAt,
    ]);
    await sleep(HANG_MS);
  } finally {
    for (const engine of engines) engine.resume();
  }
  const lasted = Date.now() - stoppedAt;
  for (const invoice of invoices) {
    await eventually(async () => {
      const { expires_at } = await invoice.read();
      expect(new Date(expires_at).getTime() - endsAt.getTime()).toBeGreaterThanOrEqual(lasted);
    }, WITHIN_MS);
    expect(await invoice.kinds()).not.toContain('invoice.expired');
  }
  for (const invoice of invoices) await invoice.becomes({ status: 'expired' });
});
