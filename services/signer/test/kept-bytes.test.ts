import { beforeEach, describe, expect, it } from '@jest/globals';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Ed25519Key, KeysUnavailable, type Secp256k1Key } from '@quittance/chains/hot-key';
import { readSignature } from '@quittance/chains/signing';
import type { Chain } from '@quittance/shared/assets';
import { signerSuite } from './signer-fixture.ts';
import { aSolanaTransfer, aSpend, aTransfer, OTHER_SEED, recipients, SEED } from './signer-orders.ts';

/** Hot wallets whose keys do not give the same signature again, as those in a KMS. */

const fixture = await signerSuite();

/** How often keys were asked, and what happens before each signature. */
const asked = { times: 0, before: async () => {} };
beforeEach(() => {
  Object.assign(asked, { times: 0, before: async () => {} });
});

async function isAsked(): Promise<void> {
  asked.times += 1;
  await asked.before();
}

const secret = secp256k1.utils.randomSecretKey();
const hotKey: Secp256k1Key = {
  publicKey: secp256k1.getPublicKey(secret),
  async sign(digest) {
    await isAsked();
    const given = { prehash: false, format: 'recovered', extraEntropy: true } as const;
    const bytes = secp256k1.sign(digest, secret, given);
    const { r, s, recovery } = secp256k1.Signature.fromBytes(bytes, 'recovered');
    return { r, s, yParity: recovery === 0 ? 0 : 1 };
  },
};
const solanaSecret = ed25519.utils.randomSecretKey();
const solanaKey: Ed25519Key = {
  publicKey: ed25519.getPublicKey(solanaSecret),
  async sign(message) {
    await isAsked();
    return ed25519.sign(message, solanaSecret);
  },
};
const keys = { ethereum: hotKey, bitcoin: hotKey, solana: solanaKey };

/** A signer that has just started. */
const started = (seed = SEED) => fixture.portsOf(seed, keys);
const hotOf = (chain: keyof typeof keys) =>
  started().chains.get(chain)?.signer.addresses.hotAddress as string;

const hold = (id: string, asset: 'ETH' | 'BTC' | 'SOL', destination: string, amount = '1000') =>
  fixture.hold(id, { asset, destination, amount });
const transfer = (id: string, nonce = 0) =>
  aTransfer(hold(id, 'ETH', recipients.ethereum), { hot: hotOf('ethereum'), nonce });
const orders = {
  ethereum: () => transfer('1'),
  bitcoin: () => {
    const spend = aSpend([hold('1', 'BTC', recipients.bitcoin, '10000')], [1]);
    return { ...spend, order: { ...spend.order, hot: hotOf('bitcoin') } };
  },
  solana: () => aSolanaTransfer(hold('1', 'SOL', recipients.solana), { hot: hotOf('solana') }),
} as const;

const sign = (chain: Chain, all: Parameters<typeof fixture.sign>[1], ports = started()) =>
  fixture.sign(chain, all, false, ports);

describe.each(['ethereum', 'bitcoin', 'solana'] as const)('of %s', (chain) => {
  it('the same order gets the same bytes again, after a restart too, and the key is asked once', async () => {
    const order = orders[chain]();
    // The second is the same order in the same request.
    const { signed: first } = await sign(chain, [order, order]);
    const { signed: again } = await fixture.sign(chain, [order], true, started());
    expect(first).toHaveLength(2);
    expect([first[1], again]).toEqual([first[0], [first[0]]]);
    expect(readSignature(first[0]).raw).not.toBe('');
    expect(asked.times).toBe(1);
  });

  it('a key that gives no signature is a refusal, and the next request is signed', async () => {
    asked.before = () => Promise.reject(new KeysUnavailable('no answer'));
    const refused = await sign(chain, [orders[chain]()]);
    expect(refused).toMatchObject({
      signed: [],
      refused: { because: 'the KMS with the key of the hot wallet did not sign', again_after_ms: 1_000 },
    });
    expect(await fixture.rows()).toEqual({});
    expect(fixture.lines).toContainEqual(
      expect.objectContaining({ level: 'error', msg: 'the KMS did not sign, nothing is signed', chain }),
    );
    asked.before = async () => {};
    expect(await sign(chain, [orders[chain]()])).toMatchObject({ refused: null });
  });
});

it('what a request has no time for is signed in the next one, and is no refusal in the log', async () => {
  asked.before = async () => {
    fixture.around.nowMs += 2_000;
  };
  const all = [0, 1, 2].map((nonce) => transfer(String(nonce), nonce));
  const first = await sign('ethereum', all);
  expect([first.signed.length, first.refused]).toEqual([
    2,
    { because: 'the request has taken its time', payouts: [], foreign: [], again_after_ms: 0 },
  ]);
  expect(fixture.lines.filter(({ msg }) => msg === 'an order is not signed')).toEqual([]);
  const { signed: then, refused } = await sign('ethereum', all);
  expect([then.slice(0, 2), then.length, refused]).toEqual([first.signed, 3, null]);
});

it('another recovery phrase beside the same key is refused', async () => {
  await sign('ethereum', [transfer('1')]);
  await expect(sign('ethereum', [transfer('2', 1)], started(OTHER_SEED))).rejects.toThrow(
    /the recovery phrase belongs to the deposit address 0x\w+, this database was used with 0x/,
  );
});

it('the key of a phrase in place of that in the KMS is refused', async () => {
  await sign('ethereum', [transfer('1')]);
  const ofPhrase = fixture.portsOf(SEED);
  await expect(sign('ethereum', [transfer('2', 1)], ofPhrase)).rejects.toThrow(
    `this database was used with ${hotOf('ethereum')}`,
  );
});
