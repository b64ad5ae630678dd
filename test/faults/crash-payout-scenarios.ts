import { expect } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { connectRpc } from '@quittance/chains/json-rpc';
import { formatUnits, units } from '@quittance/shared/money';
import { anvil } from '@quittance/stack/anvil-chain';
import { eventually } from '@quittance/testkit/eventually';
import { createWalletClient, type Hex, http } from 'viem';
import type { CrashFixture } from './crash-fixture.ts';
import {
  type CrashAsset,
  type Ended,
  expectInvoice,
  invoiceOf,
  payOut,
  type Scenario,
  STEP_MS,
  usual,
} from './crash-scenarios.ts';
import { payWithManyUtxos } from './pay-with-many-utxos.ts';

/** A contract that takes no Ether: the node says so before anything is signed. */
export const refusedByRecipient: Scenario = async (fixture) => {
  const to = fixture.quittance.stack.nodes.ethereum.tokens.USDC_ERC20;
  const { body } = await fixture.insist('/api/payouts', { asset: 'ETH', amount: '0.01', address: to });
  return async () => {
    const { id } = body.data;
    expect((await fixture.shop.get(`/api/payouts/${id}`)).body).toMatchObject({ status: 'failed' });
    expect(await fixture.customerOf('ETH').balance('ETH', to)).toBe(0n);
  };
};

/** What a payout has signed, the newest attempt first. */
async function attemptsOf({ quittance }: CrashFixture, payout: number) {
  return await quittance.db.rows<{ state: string; first_broadcast_at: Date | null }>(
    `select t.state, t.first_broadcast_at from payouts.transactions t
     join payouts.payments p using (replacement_group) where p.payout_id = $1 order by t.attempt desc`,
    [payout],
  );
}

/** The recipient becomes a contract that takes no Ether when the transaction is on its way. */
export const reverted: Scenario = async (fixture) => {
  const { quittance } = fixture;
  return await fixture.withoutBlocks(async () => {
    const to = await fixture.customerOf('ETH').newAddress();
    const { body } = await fixture.insist('/api/payouts', { asset: 'ETH', amount: '0.01', address: to });
    const { id } = body.data;
    await eventually(async () =>
      expect(await attemptsOf(fixture, id)).toMatchObject([{ state: 'broadcast' }]),
    );
    const node = connectRpc(quittance.stack.nodes.ethereum.rpc);
    await node.call('anvil_setCode', [to, '0x60006000fd']);
    await node.close();
    return async () => {
      expect((await fixture.shop.get(`/api/payouts/${id}`)).body).toMatchObject({ status: 'failed' });
      expect(await fixture.customerOf('ETH').balance('ETH', to)).toBe(0n);
    };
  });
};

/** No block comes for so long that the fee is raised; blocks come again when the service has died of it. */
export const stuck =
  (asset: CrashAsset): Scenario =>
  (fixture, died) =>
    fixture.withoutBlocks(async () => {
      const ended = await payOut(fixture, { asset, amount: usual[asset].payout });
      const sentLongAgo = `update payouts.transactions set first_broadcast_at = now() - interval '1 hour'
        where state = 'broadcast' and purpose = 'payout' returning id`;
      await eventually(async () => expect(await fixture.quittance.db.rows(sentLongAgo)).not.toHaveLength(0));
      await died;
      // Both are stored as sent before a block takes one of them.
      const replaced = `select replacement_group from payouts.transactions
        where purpose = 'payout' and state = 'broadcast' group by replacement_group having count(*) > 1`;
      if (asset === 'BTC')
        await eventually(
          async () => expect(await fixture.quittance.db.rows(replaced)).not.toHaveLength(0),
          STEP_MS,
        );
      return ended;
    });

/** No block comes until the service that died has found its transaction in the mempool and stored it as sent. */
export const storedAsSent =
  (asset: CrashAsset): Scenario =>
  (fixture, died) =>
    fixture.withoutBlocks(async () => {
      const ended = await payOut(fixture, { asset, amount: usual[asset].payout });
      await died;
      const stored = `select state, first_broadcast_at from payouts.transactions
        where purpose = 'payout' and state in ('signed', 'broadcast')`;
      await eventually(
        async () =>
          expect(await fixture.quittance.db.rows(stored)).toEqual([
            { state: 'broadcast', first_broadcast_at: expect.any(Date) },
          ]),
        STEP_MS,
      );
      return ended;
    });

/** An operator sends bitcoins to the hot wallet. */
export const float: Scenario = async (fixture) => {
  const { quittance } = fixture;
  const { hotAddress } = openBitcoinWallet('regtest', quittance.stack.secrets.walletSeed);
  const utxos = () => quittance.db.rows(`select outpoint from payouts.utxos where branch = 'hot'`);
  const before = (await utxos()).length;
  await quittance.bitcoin.pay('BTC', hotAddress, '0.5');
  return async () => expect(await utxos()).toHaveLength(before + 1);
};

const UTXO_COUNT = 240;
const UTXO_AMOUNT = 50_000_000n;

/** A payout that needs more coins than one transaction takes: they become one coin first. */
export const manyUtxos: Scenario = async (fixture) => {
  const { quittance } = fixture;
  const { id, address } = await invoiceOf(fixture, 'BTC', 6);
  await payWithManyUtxos(quittance, address.address, UTXO_COUNT, UTXO_AMOUNT);
  await eventually(() => expectInvoice(fixture, id, { status: 'paid' }), STEP_MS);
  const available = () =>
    quittance.db.rows<{ amount: string }>(
      `select amount from payouts.utxos where state = 'available' order by amount desc`,
    );
  const utxos = await eventually(async () => {
    const all = await available();
    expect(all.length).toBeGreaterThanOrEqual(UTXO_COUNT);
    return all.map(({ amount }) => BigInt(amount));
  }, STEP_MS);
  // More than two hundred of the largest, which is what one transaction takes, and less than the merchant has.
  const most = utxos.slice(0, 200).reduce((sum, amount) => sum + amount, 0n);
  // No block takes what was sent before it is noted as sent.
  return await fixture.withoutBlocks(async () => {
    const ended = await payOut(fixture, {
      asset: 'BTC',
      amount: formatUnits(units(most + 2n * UTXO_AMOUNT), 8),
    });
    const sent = `select 1 from payouts.transactions where purpose = 'sweep' and chain = 'bitcoin' and state = 'broadcast'`;
    await eventually(async () => expect(await quittance.db.rows(sent)).not.toEqual([]), STEP_MS);
    return ended;
  });
};

/** While payouts is dead with a payout that was signed and not sent, somebody else uses the nonce. */
export async function takeNonce(fixture: CrashFixture): Promise<Ended> {
  const { quittance } = fixture;
  const [payout] = await quittance.db.rows<{ id: string; nonce: string }>(
    `select p.payout_id as id, t.nonce from payouts.transactions t join payouts.payments p using (replacement_group)
     where t.state = 'signed' and t.purpose = 'payout' and t.chain = 'ethereum'`,
  );
  if (payout === undefined) throw new Error('nothing is signed');
  const { hotSigner } = openWallet(quittance.stack.secrets.walletSeed);
  const transport = http(quittance.stack.nodes.ethereum.rpc);
  const thief = createWalletClient({ account: hotSigner, chain: anvil, transport });
  // eslint-disable-next-line no-restricted-syntax -- a nonce
  await thief.sendTransaction({ to: hotSigner.address as Hex, value: 1n, nonce: Number(payout.nonce) });
  await quittance.ethereum.mine(12);
  return async () => {
    expect((await fixture.shop.get(`/api/payouts/${payout.id}`)).body).toMatchObject({ status: 'failed' });
  };
}

/** As if the doubt that comes before a proof were older than it is: waited for in seconds instead of half minutes. */
export const longDoubted: Scenario = async ({ quittance }, died) => {
  let isOver = false;
  void died.then(() => {
    isOver = true;
  });
  await eventually(async () => {
    await quittance.db.rows(
      `update payouts.transactions set doubted_at = doubted_at - interval '1 minute' where doubted_at > now() - interval '30 seconds'`,
    );
    expect(isOver).toBe(true);
  }, STEP_MS);
  return async () => {};
};

/** While payouts is dead, what it has signed on Solana and not sent becomes too old to be mined. */
export async function untilTooOld({ quittance }: CrashFixture): Promise<void> {
  const rpc = connectRpc(quittance.stack.nodes.solana?.rpc ?? '');
  try {
    await eventually(
      async () => {
        const [signed] = await quittance.db.rows<{ height: string }>(
          `select max(valid_to_height) as height from payouts.transactions where state = 'signed' and chain = 'solana'`,
        );
        const height = await rpc.call('getBlockHeight', [{ commitment: 'finalized' }]);
        // eslint-disable-next-line no-restricted-syntax -- a height
        expect(height).toBeGreaterThan(Number(signed?.height));
      },
      STEP_MS,
      200,
    );
  } finally {
    await rpc.close();
  }
  // As if it had lain there for as long as it takes before a proof is asked for.
  await quittance.db.rows(
    `update payouts.transactions set created_at = created_at - interval '31 seconds' where state = 'signed'`,
  );
}
