import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { type BitcoindHandle, startBitcoind } from '@quittance/engines/bitcoind';
import { newDepositId } from '@quittance/shared/ids';
import { recordDeposits } from '../src/handlers.ts';
import { SEED } from './service-client.ts';
import { type ServiceFixture, serviceSuite } from './service-fixture.ts';

/** Two replicas with their workers on a real Bitcoin node. */
let fixture: ServiceFixture;
let node: BitcoindHandle;
const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bitcoin-'));
const wallet = openBitcoinWallet('regtest', SEED);

serviceSuite(async (opened) => {
  fixture = opened;
  node = await startBitcoind({ dataDir, port: 0 });
  fixture.board.set('BTC', { active: true, network_fee: '2000', dust: '1000', min_confirmations: 2 });
  await Promise.all([start(), start()]);
});
afterAll(async () => {
  await node?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = (settings: Record<string, string> = {}) =>
  fixture.start(
    {
      ETHEREUM_RPC_URL: '',
      BITCOIN_RPC_URL: node.rpcUrl,
      BITCOIN_NETWORK: 'regtest',
      PAYOUTS_EVERY_MS: '50',
      ...settings,
    },
    { workers: true },
  );

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
    account_id: fixture.shop.account,
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
  await fixture.db.transaction((trx) => recordDeposits(trx, [{ payload: told }]));
}

let recipients = 0;
const newRecipient = () => wallet.address('deposit', 700_000 + recipients++);

const payout = (amount: string, to = newRecipient()) => fixture.payout('BTC', amount, to);
const ended = (id: number) => fixture.ended(id, () => node.mine(1));

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
  const transactions = await fixture.db.rows(`select 1 from transactions where state = 'mined'`);
  expect(transactions.length).toBeLessThanOrEqual(5);
  expect(fixture.ledger.asked).toHaveLength(25);
});

it('payouts are accepted while the node hangs, and paid when it answers again', async () => {
  await deposit('0.5', '50000000');
  node.pause();
  const { id, to } = await payout('0.3');
  expect(await fixture.shown(id)).toMatchObject({ status: 'pending', tx_hash: null });
  node.resume();
  expect((await ended(id)).status).toBe('mined');
  expect(await paid(to)).toEqual([0.3]);
});

it('an address of another network is refused before the ledger is asked', async () => {
  const { status, body } = await fixture.shop.post({
    asset: 'BTC',
    amount: '0.01',
    address: 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  });
  expect([status, Object.keys(body.errors)]).toEqual([422, ['address']]);
});

it('a replica with a node of another network does not start, and names the setting', async () => {
  await expect(start({ BITCOIN_NETWORK: 'signet' })).rejects.toMatchObject({
    name: 'ConfigError',
    problems: [expect.stringMatching(/^BITCOIN_RPC_URL: .*not on Bitcoin's signet/)],
  });
});
