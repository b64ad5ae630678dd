import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { connectRpc, type Rpc } from '@quittance/chains/json-rpc';
import { openWallet } from '@quittance/chains/solana/wallet';
import { type SurfpoolHandle, startSurfpool } from '@quittance/engines/surfpool';
import { ADDRESSES_PER_REQUEST } from '@quittance/shared/commands';
import { payOnSolana, prepareSolana } from '@quittance/stack/solana';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { solanaCustomer } from '@quittance/testkit/solana-customer';
import { type CrashProcess, crashProcess, PATIENCE_MS } from './crash-process.ts';
import { SEED } from './service-client.ts';

/** What a crash leaves of attempts that expire on Solana. test/faults kills a whole stack at every failpoint. */
const SLOT_MS = 20;
const SOL = 10n ** 9n;
const DOLLAR = 1_000_000n;
const STEP_MS = 100;

let payouts: CrashProcess;
let node: SurfpoolHandle;
let rpc: Rpc;
let usdcMint: string;
let customer: ReturnType<typeof solanaCustomer>;
const wallet = openWallet(SEED);

jest.setTimeout(patient(3 * PATIENCE_MS));

beforeAll(async () => {
  [payouts, node] = await Promise.all([
    crashProcess(),
    startSurfpool({ port: 0, wsPort: 0, slotMs: SLOT_MS }),
  ]);
  usdcMint = await prepareSolana(node.rpcUrl, {
    address: wallet.hotAddress,
    lamports: 100n * SOL,
    usdc: 0n,
  });
  rpc = connectRpc(node.rpcUrl);
  customer = solanaCustomer({ rpc: node.rpcUrl, tokens: { USDC_SOL: usdcMint } });
  payouts.on({
    asset: 'SOL',
    quotes: {
      SOL: { usd_rate: '200', network_fee: '1000000', dust: '890880', min_confirmations: 1 },
      USDC_SOL: { usd_rate: '1', network_fee: '500000', dust: '10000', min_confirmations: 1 },
    },
    settings: { SOLANA_RPC_URL: node.rpcUrl, SOLANA_NETWORK: 'local', SOLANA_USDC_MINT: usdcMint },
    // Blocks come by themselves.
    mine: async () => undefined,
  });
});
afterAll(async () => {
  await payouts?.close();
  await rpc?.close();
  await node?.stop();
});

let index = 0;
let recipients = 1_000_000;
const newRecipient = () => wallet.depositAddress(++recipients);

it('killed at solana.sweeps.signed, there is one sweep and one payout', async () => {
  await payouts.start('solana.sweeps.signed');
  index += 1;
  const address = wallet.depositAddress(index);
  const amount = 50n * DOLLAR;
  await payOnSolana({ rpc: node.rpcUrl, tokens: { USDC_SOL: usdcMint } }, [
    { asset: 'USDC_SOL', to: address, amount },
  ]);
  const depositId = await payouts.deposit({
    asset: 'USDC_SOL',
    amount,
    address,
    index,
    outpoint: `${address}:1`,
  });
  await payouts.died();
  await payouts.start();
  const to = newRecipient();
  const id = await payouts.ask('USDC_SOL', '50', to);
  await payouts.ends(id, 'mined');
  expect(await customer.balance('USDC_SOL', to)).toBe(amount);
  const swept = `select t.state from transactions t join unswept_deposits h on h.sweep_id = t.id where h.deposit_id = $1`;
  expect(await payouts.db.rows(swept, [depositId])).toEqual([{ state: 'mined' }]);
  await payouts.expectSpentOnce();
});

it.each(['solana.resigns.signing', 'solana.resigns.signed'])(
  'killed at %s after an attempt expired, one of several attempts is mined',
  async (point) => {
    await payouts.start('solana.payouts.signed');
    const to = newRecipient();
    const id = await payouts.ask('SOL', '0.5', to);
    await payouts.died();
    const [first] = await payouts.attemptsAt(id);
    await eventually(
      async () => {
        const height = await rpc.call('getBlockHeight', [{ commitment: 'finalized' }]);
        expect(height).toBeGreaterThan(Number(first?.valid_to_height)); // eslint-disable-line no-restricted-syntax -- a height
      },
      PATIENCE_MS,
      STEP_MS,
    );
    // As if it were old enough for the proof of expiry.
    await payouts.db.rows(`update transactions set created_at = created_at - interval '31 seconds'`);
    await payouts.launch(point);
    await payouts.died();
    const expected = point === 'solana.resigns.signed' ? ['invalidated', 'signed'] : ['signed'];
    expect((await payouts.attemptsAt(id)).map(({ state }) => state)).toEqual(expected);
    await payouts.start();
    await payouts.ends(id, 'mined');
    expect(await customer.balance('SOL', to)).toBe(SOL / 2n);
    // On a slow machine the second attempt expires too before the process is back.
    const states = (await payouts.attemptsAt(id)).map(({ state }) => state);
    expect(states.length).toBeGreaterThan(1);
    expect(states).toEqual([...states.slice(1).map(() => 'invalidated'), 'mined']);
    await payouts.expectPublished(id, ['payout.created', 'hold.settle', 'payout.completed']);
    await payouts.expectSpentOnce();
  },
);

it('derives addresses for invoices by a NATS command', async () => {
  await payouts.start();
  const count = ADDRESSES_PER_REQUEST;
  const answer = await payouts.bus.ask('addresses.derive', { chain: 'solana', from: 5, count });
  const addresses = Array.from({ length: count }, (_, i) => wallet.depositAddress(5 + i));
  expect(answer).toEqual({ known: true, reply: { addresses } });
  // Only a service with the keys can derive addresses, and a chain that is not configured has none.
  expect(await payouts.bus.ask('addresses.derive', { chain: 'polygon', from: 0, count: 1 })).toMatchObject({
    known: false,
  });
});
