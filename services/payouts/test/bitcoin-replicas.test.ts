import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { type BitcoindHandle, startBitcoind } from '@quittance/engines/bitcoind';
import { type Db, openDb } from '@quittance/shared/db';
import { newDepositId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { recordDeposits } from '../src/handlers.ts';
import type { PayoutsService } from '../src/service.ts';
import { type ScriptedLedger, scriptedLedger } from './scripted-ledger.ts';
import { Client, environment, SEED, startService, TestBoard } from './service-client.ts';

/** Two replicas with their workers on a real Bitcoin node. */
let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let node: BitcoindHandle;
let ledger: ScriptedLedger;
let db: Db;
let replicas: PayoutsService[];
let shop: Client;
const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bitcoin-'));
const wallet = openBitcoinWallet('regtest', SEED);

function settings(given: Record<string, string> = {}): Record<string, string> {
  const all = environment(database.urlOf('payouts'), nats.url);
  for (const name of Object.keys(all)) if (name.startsWith('ETHEREUM_')) delete all[name];
  return {
    ...all,
    BITCOIN_RPC_URL: node.rpcUrl,
    BITCOIN_NETWORK: 'regtest',
    PAYOUTS_EVERY_MS: '50',
    ...given,
  };
}

function board(): TestBoard {
  const quotes = new TestBoard();
  quotes.set('BTC', { active: true, network_fee: '2000', dust: '1000', min_confirmations: 2 });
  return quotes;
}

beforeAll(async () => {
  [database, nats, node] = await Promise.all([
    testDatabase(),
    testNats(),
    startBitcoind({ dataDir, port: 0 }),
  ]);
  ledger = await scriptedLedger(nats.url);
  const logger = createLogger('test', 'silent');
  db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 2, logger });
  const options = { quotes: board(), workers: true };
  replicas = await Promise.all([startService(settings(), options), startService(settings(), options)]);
  let turn = 0;
  shop = new Client(() => replicas[turn++ % 2] as PayoutsService);
});
afterAll(async () => {
  await Promise.all((replicas ?? []).map((replica) => replica.stop()));
  await ledger?.close();
  await db?.close();
  await nats?.stop();
  await node?.stop();
  rmSync(dataDir, { recursive: true, force: true });
  await database?.drop();
});

let index = 0;
async function deposit(bitcoins: string, satoshi: string): Promise<void> {
  index += 1;
  const address = wallet.address('deposit', index);
  const txHash = await node.pay(address, bitcoins);
  await node.mine(2);
  type Output = { n: number; scriptPubKey: { address?: string } };
  const { vout } = await node.rpc<{ vout: Output[] }>('getrawtransaction', txHash, 1);
  const output = vout.find(({ scriptPubKey }) => scriptPubKey.address === address);
  const told = {
    deposit_id: newDepositId(new Date()),
    account_id: shop.account,
    invoice_id: 'inv_test',
    asset: 'BTC',
    amount: satoshi,
    address,
    derivation_index: index,
    outpoint: `${txHash}:${output?.n}`,
    tx_hash: txHash,
    block_height: 1,
    block_hash: 'block',
    disposition: 'credit',
  } as const;
  await db.transaction((trx) => recordDeposits(trx, [{ payload: told }]));
}

let recipients = 0;
const newRecipient = () => wallet.address('deposit', 700_000 + recipients++);

async function payout(amount: string, to = newRecipient()): Promise<{ id: number; to: string }> {
  const { status, body } = await shop.post({ asset: 'BTC', amount, address: to });
  expect(status).toBe(201);
  return { id: body.data.id, to };
}

const shown = async (id: number) => (await shop.get(`/api/payouts/${id}`)).body;

/** Mines blocks until the payout has ended. */
async function ended(id: number): Promise<{ status: string; tx_hash: string }> {
  return eventually(async () => {
    await node.mine(1);
    const payout = await shown(id);
    expect(payout.status).not.toBe('pending');
    return payout;
  }, 60_000);
}

async function paid(to: string): Promise<number[]> {
  type Scan = { unspents: { amount: number }[] };
  const { unspents } = await node.rpc<Scan>('scantxoutset', 'start', [`addr(${to})`]);
  return unspents.map(({ amount }) => amount);
}

it('many simultaneous payouts through both replicas share few transactions, and each is paid once', async () => {
  await deposit('1', '100000000');
  const payouts = await Promise.all(Array.from({ length: 25 }, () => payout('0.01')));
  for (const { id, to } of payouts) {
    expect((await ended(id)).status).toBe('mined');
    expect(await paid(to)).toEqual([0.01]);
  }
  const transactions = await db.rows(`select 1 from transactions where state = 'mined'`);
  expect(transactions.length).toBeLessThanOrEqual(5);
  expect(ledger.asked).toHaveLength(25);
});

it('payouts are accepted while the node hangs, and paid when it answers again', async () => {
  await deposit('0.5', '50000000');
  node.pause();
  const { id, to } = await payout('0.3');
  expect(await shown(id)).toMatchObject({ status: 'pending', tx_hash: null });
  node.resume();
  expect((await ended(id)).status).toBe('mined');
  expect(await paid(to)).toEqual([0.3]);
});

it('an address of another network is refused before the ledger is asked', async () => {
  const { status, body } = await shop.post({
    asset: 'BTC',
    amount: '0.01',
    address: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  });
  expect([status, Object.keys(body.errors)]).toEqual([422, ['address']]);
});

it('a replica with a node of another network does not start, and names the setting', async () => {
  const started = startService(settings({ BITCOIN_NETWORK: 'signet' }), { quotes: board(), workers: true });
  await expect(started).rejects.toMatchObject({
    name: 'ConfigError',
    problems: [expect.stringMatching(/^BITCOIN_RPC_URL: .*not on Bitcoin's signet/)],
  });
});
