import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { addressOf } from '@quittance/chains/evm/wallet';
import { openHotKey } from '@quittance/kms/hot-keys';
import { type KmsKeyName, readKeyName } from '@quittance/kms/key-name';
import { eventually } from '@quittance/testkit/eventually';
import { type FakeKms, startFakeKms } from '@quittance/testkit/fake-kms';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';

/** A payout of a hot wallet whose key is in a KMS, here a local fake of one, on a real node. */

const RECIPIENT = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
const STEP_MS = 120_000;

let kms: FakeKms;
let quittance: Quittance;
let hot: string;
beforeAll(async () => {
  kms = await startFakeKms();
  const name = kms.keys.aws.secp256k1;
  Object.assign(process.env, kms.environment);
  hot = addressOf((await openHotKey('evm', readKeyName(name) as KmsKeyName)).publicKey);
  quittance = await startQuittance({
    chains: [],
    blockEverySeconds: 1,
    settings: {
      signer: { ...kms.environment, ETHEREUM_HOT_KEY: name },
      payouts: { ETHEREUM_HOT_ADDRESS: hot },
    },
  });
}, STACK_STARTED_WITHIN_MS);
afterAll(async () => {
  await quittance?.stop();
  await kms?.stop();
});

it(
  'what customers pay is swept into the hot wallet of the KMS, and a payout from it is mined, also after the KMS was away',
  async () => {
    const { ethereum } = quittance;
    const shop = await quittance.merchant();
    const { body: invoice } = await shop.post('/api/invoices', { asset: 'ETH', amount: 5_000 });
    await ethereum.pay('ETH', invoice.data.address.address, invoice.data.amount);
    await eventually(
      async () => expect((await shop.get(`/api/invoices/${invoice.data.id}`)).body.status).toBe('paid'),
      STEP_MS,
      200,
    );
    kms.behaviour = 'throttles';
    const asked = { asset: 'ETH', amount: '1', address: RECIPIENT };
    const { status, body: payout } = await shop.post('/api/payouts', asked);
    expect(status).toBe(201);
    await eventually(
      async () => {
        const sql = 'select signing_refused_because as because from payouts.payouts where id = $1';
        const [row] = await quittance.db.rows<{ because: string }>(sql, [payout.data.id]);
        expect(row?.because).toBe('the KMS with the key of the hot wallet did not sign');
      },
      STEP_MS,
      200,
    );
    kms.behaviour = 'right';
    await eventually(
      async () => expect((await shop.get(`/api/payouts/${payout.data.id}`)).body.status).toBe('mined'),
      STEP_MS,
      200,
    );
    expect(await ethereum.balance('ETH', RECIPIENT)).toBe(10n ** 18n);
    const senders = await quittance.db.rows(
      'select distinct wallet from payouts.transactions where purpose = $1',
      ['payout'],
    );
    expect(senders).toEqual([{ wallet: hot }]);
    expect(kms.signed).toBeGreaterThan(0);
  },
  2 * STEP_MS,
);
