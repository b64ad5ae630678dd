import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { type BitcoindHandle, startBitcoind } from '@quittance/engines/bitcoind';
import type { PayoutId } from '@quittance/shared/ids';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { type CrashProcess, crashProcess, PATIENCE_MS } from './crash-process.ts';
import { SEED } from './service-client.ts';

/** What a crash leaves of UTXOs and transactions on Bitcoin. test/faults kills a whole stack at every failpoint. */
const CONFIRMATIONS = 2;
const SATOSHIS = 2_000_000n;

let payouts: CrashProcess;
let node: BitcoindHandle;
const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bitcoin-'));
const wallet = openBitcoinWallet('regtest', SEED);

jest.setTimeout(patient(3 * PATIENCE_MS));

beforeAll(async () => {
  [payouts, node] = await Promise.all([crashProcess(), startBitcoind({ dataDir, port: 0 })]);
  payouts.on({
    asset: 'BTC',
    quotes: { BTC: { network_fee: '2000', dust: '1000', min_confirmations: CONFIRMATIONS, active: true } },
    settings: { BITCOIN_RPC_URL: node.rpcUrl, BITCOIN_NETWORK: 'regtest' },
    mine: () => node.mine(1),
  });
});
afterAll(async () => {
  await payouts?.close();
  await node?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

let index = 0;
/** Bitcoins on a deposit address. */
async function deposit(): Promise<void> {
  index += 1;
  const address = wallet.address('deposit', index);
  const txHash = await node.pay(address, '0.02');
  await node.mine(CONFIRMATIONS);
  type Output = { n: number; scriptPubKey: { address?: string } };
  const { vout } = await node.rpc<{ vout: Output[] }>('getrawtransaction', txHash, 1);
  const output = vout.find(({ scriptPubKey }) => scriptPubKey.address === address);
  await payouts.deposit({
    asset: 'BTC',
    amount: SATOSHIS,
    address,
    index,
    outpoint: `${txHash}:${output?.n}`,
  });
}

const newRecipient = () => wallet.address('deposit', 500_000 + index);

async function expectPaidOnce(id: PayoutId, to: string): Promise<void> {
  // All outputs of an address, because its outputs are never spent.
  type Scan = { unspents: { amount: number }[] };
  const { unspents } = await node.rpc<Scan>('scantxoutset', 'start', [`addr(${to})`]);
  expect(unspents.map(({ amount }) => amount)).toEqual([0.01]);
  await payouts.expectPublished(id, ['payout.created', 'hold.settle', 'payout.completed']);
  const attempts = await payouts.attemptsAt(id);
  expect(attempts.filter(({ state }) => state === 'mined')).toHaveLength(1);
  await payouts.expectSpentOnce();
}

it.each(['bitcoin.payouts.signing', 'bitcoin.payouts.signed', 'bitcoin.payouts.settling'])(
  'killed at %s, a payout has one transaction and one end',
  async (point) => {
    await payouts.start(point);
    await deposit();
    const to = newRecipient();
    const id = await payouts.ask('BTC', '0.01', to);
    await payouts.died();
    await payouts.start();
    await payouts.ends(id, 'mined');
    await expectPaidOnce(id, to);
    expect(await payouts.attemptsAt(id)).toHaveLength(1);
  },
);

it('killed at bitcoin.payouts.sent, the transaction in the mempool is stored as sent', async () => {
  await payouts.start('bitcoin.payouts.sent');
  await deposit();
  const to = newRecipient();
  const id = await payouts.ask('BTC', '0.01', to);
  await payouts.died({ mining: false });
  expect(await payouts.attemptsAt(id)).toMatchObject([{ state: 'signed', first_broadcast_at: null }]);
  await payouts.start();
  await eventually(async () => {
    const noted = { state: 'broadcast', first_broadcast_at: expect.any(Date) };
    expect(await payouts.attemptsAt(id)).toMatchObject([noted]);
  }, PATIENCE_MS);
  await payouts.ends(id, 'mined');
  await expectPaidOnce(id, to);
});

it.each(['bitcoin.bumps.signing', 'bitcoin.bumps.signed'])(
  'killed at %s, one of the attempts is mined',
  async (point) => {
    await payouts.start(point);
    await deposit();
    const to = newRecipient();
    const id = await payouts.ask('BTC', '0.01', to);
    const sent = async (count: number) => {
      const attempts = await payouts.attemptsAt(id);
      expect(attempts.filter(({ state }) => state === 'broadcast')).toHaveLength(count);
    };
    await eventually(() => sent(1), PATIENCE_MS);
    await payouts.db.rows(
      `update transactions set first_broadcast_at = now() - interval '1 hour' where state = 'broadcast'`,
    );
    await payouts.died({ mining: false });
    await payouts.start();
    await eventually(() => sent(2), PATIENCE_MS);
    await payouts.ends(id, 'mined');
    await expectPaidOnce(id, to);
  },
);

it('killed at consumer.after_commit, a deposit whose event arrives again is one UTXO', async () => {
  await payouts.start('consumer.after_commit');
  await deposit();
  await payouts.died();
  await payouts.start();
  const to = newRecipient();
  const id = await payouts.ask('BTC', '0.01', to);
  await payouts.ends(id, 'mined');
  await expectPaidOnce(id, to);
  const utxos = `select 1 from utxos where branch = 'deposit' and derivation_index = $1`;
  await eventually(async () => expect(await payouts.db.rows(utxos, [index])).toHaveLength(1), PATIENCE_MS);
});

it('no UTXO was spent by two transactions in any of these crashes', async () => {
  const rows = await payouts.db.rows<{ outpoint: string }>(
    `select coin->>'outpoint' as outpoint from transactions, jsonb_array_elements(terms->'utxos') as coin
     where state = 'mined'`,
  );
  expect(rows.length).toBeGreaterThan(4);
  expect(new Set(rows.map(({ outpoint }) => outpoint)).size).toBe(rows.length);
});
