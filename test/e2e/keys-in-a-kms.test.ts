import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { factsOf } from '@quittance/chains/bitcoin/network';
import { addressOf as bitcoinAddress } from '@quittance/chains/bitcoin/wallet';
import { addressOf } from '@quittance/chains/evm/wallet';
import { openHotKey } from '@quittance/kms/hot-keys';
import { type KmsKeyName, readKeyName } from '@quittance/kms/key-name';
import { services } from '@quittance/shared/events';
import { eventually } from '@quittance/testkit/eventually';
import { type FakeKms, startFakeKms } from '@quittance/testkit/fake-kms';
import type { Merchant } from '@quittance/testkit/merchant';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';

/** A payout of a hot wallet whose key is in a KMS, here a local fake of one, on a real node. */

const STEP_MS = 120_000;
const ASK_EVERY_MS = 200;

let kms: FakeKms;
let quittance: Quittance;
/** The hot wallet of Ethereum is in AWS KMS, that of Bitcoin in Google's. */
let hot: { ethereum: string; bitcoin: string };
beforeAll(async () => {
  kms = await startFakeKms();
  const { aws, google } = kms.keys;
  const { environment } = kms;
  Object.assign(process.env, environment);
  const publicKeyOf = async (name: string) => {
    const googleEndpoint = environment['GOOGLE_KMS_ENDPOINT'];
    return (await openHotKey('evm', readKeyName(name) as KmsKeyName, { googleEndpoint })).publicKey;
  };
  hot = {
    ethereum: addressOf(await publicKeyOf(aws.secp256k1)),
    bitcoin: bitcoinAddress(factsOf('regtest').form, await publicKeyOf(google.secp256k1)),
  };
  quittance = await startQuittance({
    chains: ['bitcoin'],
    blockEverySeconds: 1,
    // Where the KMS is, the signer reads in its environment.
    together: services.filter((service) => service !== 'signer'),
    settings: {
      signer: { ...environment, ETHEREUM_HOT_KEY: aws.secp256k1, BITCOIN_HOT_KEY: google.secp256k1 },
      payouts: { ETHEREUM_HOT_ADDRESS: hot.ethereum, BITCOIN_HOT_ADDRESS: hot.bitcoin },
    },
  });
}, STACK_STARTED_WITHIN_MS);
afterAll(async () => {
  await quittance?.stop();
  await kms?.stop();
});

const until = (look: () => Promise<void>) => eventually(look, STEP_MS, ASK_EVERY_MS);

async function shopWith(asset: 'ETH' | 'BTC'): Promise<Merchant> {
  const shop = await quittance.merchant();
  const { body } = await shop.post('/api/invoices', { asset, amount: 5_000 });
  const { address, amount } = body.data;
  await quittance[asset === 'ETH' ? 'ethereum' : 'bitcoin'].pay(asset, address.address, amount);
  await until(async () => expect((await shop.get(`/api/invoices/${body.data.id}`)).body.status).toBe('paid'));
  return shop;
}

async function paidOut(shop: Merchant, asked: { asset: string; amount: string; address: string }) {
  const { status, body } = await shop.post('/api/payouts', asked);
  expect(status).toBe(201);
  const { id } = body.data;
  return {
    refusedBecause: (why: string) =>
      until(async () => {
        const sql = 'select signing_refused_because as because from payouts.payouts where id = $1';
        expect((await quittance.db.one<{ because: string }>(sql, [id])).because).toBe(why);
      }),
    mined: () => until(async () => expect((await shop.get(`/api/payouts/${id}`)).body.status).toBe('mined')),
  };
}

it(
  'what customers pay is swept into the hot wallet of the KMS, and a payout from it is mined, also after the KMS was away',
  async () => {
    const shop = await shopWith('ETH');
    const address = await quittance.ethereum.newAddress();
    kms.behaviour = 'throttles';
    const payout = await paidOut(shop, { asset: 'ETH', amount: '1', address });
    await payout.refusedBecause('the KMS with the key of the hot wallet did not sign');
    kms.behaviour = 'right';
    await payout.mined();
    expect(await quittance.ethereum.balance('ETH', address)).toBe(10n ** 18n);
    const sql = 'select distinct wallet from payouts.transactions where purpose = $1 and chain = $2';
    expect(await quittance.db.rows(sql, ['payout', 'ethereum'])).toEqual([{ wallet: hot.ethereum }]);
  },
  2 * STEP_MS,
);

it(
  'change of Bitcoin returns to the hot address of the KMS, and is spent from there',
  async () => {
    const shop = await shopWith('BTC');
    const before = kms.signed;
    for (const amount of ['0.001', '0.002']) {
      const address = await quittance.bitcoin.newAddress();
      await (await paidOut(shop, { asset: 'BTC', amount, address })).mined();
      expect(await quittance.bitcoin.balance('BTC', address)).toBe(amount === '0.001' ? 100_000n : 200_000n);
    }
    // The first spends the deposit, by the key of the phrase; the second its change.
    expect(kms.signed).toBeGreaterThan(before);
    const change = await quittance.db.rows(
      `select distinct address from payouts.utxos where branch = 'change'`,
    );
    expect(change).toEqual([{ address: hot.bitcoin }]);
  },
  3 * STEP_MS,
);
