import { afterAll, describe, expect, it } from '@jest/globals';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { HotKeyOf } from '@quittance/chains/hot-key';
import { openSigner } from '@quittance/chains/registry';
import type { SettingsOf } from '@quittance/chains/settings';
import { readOrder, signOrder, toWire } from '@quittance/chains/signing';
import { units } from '@quittance/shared/money';
import { startFakeKms } from '@quittance/testkit/fake-kms';
import { Address, OutScript, SigHash, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import { hash160 } from '@scure/btc-signer/utils.js';
import { getAddressEncoder, getBase64Encoder, getTransactionDecoder } from '@solana/kit';
import { type Hex, keccak256, recoverTransactionAddress } from 'viem';
import { openHotKey } from './hot-keys.ts';
import { type KmsKeyName, readKeyName } from './key-name.ts';

/** Transactions of a hot wallet whose key is in a KMS, checked by the libraries of the chains. */

const fake = await startFakeKms();
Object.assign(process.env, fake.environment);
afterAll(() => fake.stop());

const PHRASE = 'test test test test test test test test test test test junk';
const GWEI = 10n ** 9n;
const token = `0x${'ab'.repeat(20)}` as const;
const none = { rpcUrls: [] };
const evm: SettingsOf<'evm'> = { ...none, kind: 'evm', chain: 'ethereum', chainId: 1, usdcAddress: token };
const bitcoin: SettingsOf<'bitcoin'> = { ...none, kind: 'bitcoin', chain: 'bitcoin', network: 'regtest' };
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const solana: SettingsOf<'solana'> = {
  ...none,
  kind: 'solana',
  chain: 'solana',
  network: 'local',
  usdcMint: mint,
};

describe.each(['aws', 'google'] as const)('by a key in %s', (provider) => {
  const open = <K extends 'evm' | 'bitcoin' | 'solana'>(kind: K): Promise<HotKeyOf<K>> => {
    const name = fake.keys[provider][kind === 'solana' ? 'ed25519' : 'secp256k1'];
    return openHotKey(kind, readKeyName(name) as KmsKeyName, {
      googleEndpoint: fake.environment['GOOGLE_KMS_ENDPOINT'],
    });
  };

  it('transfers and token sweeps of Ethereum are of the hot wallet, native sweeps of the deposit', async () => {
    const signer = openSigner(evm, PHRASE, await open('evm'));
    const { hotAddress: hot, depositAddress } = signer.addresses;
    expect(hot).not.toBe(openSigner(evm, PHRASE).addresses.hotAddress);
    const fees = { maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI };
    const deposit = { index: 3, address: depositAddress(3) };
    const terms = { hot, nonce: 0, gas: 150_000n, fees };
    const domain = { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: token };
    const sweep = {
      asset: 'USDC_ERC20',
      amount: units(5n),
      authorizationNonce: keccak256('0x01'),
      domain,
    } as const;
    const to = `0x${'11'.repeat(20)}`;
    const orders = [
      { from: hot, order: { is: 'transfer', ...terms, asset: 'ETH', to, amount: units(5n) } },
      { from: hot, order: { is: 'token_sweep', ...terms, ...deposit, ...sweep } },
      {
        from: deposit.address,
        order: { is: 'native_sweep', hot, ...deposit, balance: units(10n ** 18n), nonce: 0, fees },
      },
    ] as const;
    for (const { from, order } of orders) {
      // Several times: every other signature has s in the upper half.
      for (let i = 0; i < 2; i++) {
        const { raw, txHash } = await signOrder('evm', signer, readOrder('evm', toWire(order)));
        expect(keccak256(raw as Hex)).toBe(txHash);
        const recovered = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
        expect(recovered.toLowerCase()).toBe(from);
      }
    }
  });

  it('transactions of Solana are signed by the hot wallet, and sweeps by the deposit too', async () => {
    const signer = openSigner(solana, PHRASE, await open('solana'));
    const { hotAddress: hot, depositAddress } = signer.addresses;
    const deposit = { index: 3, address: depositAddress(3) };
    const lifetime = { blockhash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', lastValidBlockHeight: 150 };
    const terms = { hot, lifetime, priorityFee: 10_000n };
    const tokens = { asset: 'USDC_SOL', tokenAccountRent: units(2_039_280n) } as const;
    const accounts = [{ address: depositAddress(9), amount: units(7n) }];
    const sweep = { is: 'native_sweep', ...terms, ...deposit, balance: units(1_000_000n) } as const;
    const orders = [
      { by: [hot], order: { is: 'transfer', ...terms, ...tokens, to: depositAddress(7), amount: units(5n) } },
      { by: [hot, deposit.address], order: { ...sweep, feeFrom: 'hot' } },
      { by: [deposit.address], order: { ...sweep, feeFrom: 'deposit' } },
      { by: [hot, deposit.address], order: { is: 'token_sweep', ...terms, ...tokens, ...deposit, accounts } },
    ] as const;
    for (const { by, order } of orders) {
      const { raw } = await signOrder('solana', signer, readOrder('solana', toWire(order)));
      const { messageBytes, signatures } = getTransactionDecoder().decode(getBase64Encoder().encode(raw));
      expect(Object.keys(signatures).toSorted()).toEqual([...by].toSorted());
      for (const [address, signature] of Object.entries(signatures)) {
        const key = Uint8Array.from(getAddressEncoder().encode(address as Parameters<typeof String>[0]));
        expect(ed25519.verify(signature ?? new Uint8Array(64), Uint8Array.from(messageBytes), key)).toBe(
          true,
        );
      }
    }
  });

  it('a spend of Bitcoin takes deposits, the hot address and its change, which is the same address', async () => {
    const signer = openSigner(bitcoin, PHRASE, await open('bitcoin'));
    const { hotAddress: hot, address } = signer.addresses;
    expect([address('hot', 0), address('change', 8)]).toEqual([hot, hot]);
    const places = [
      ['deposit', 4],
      ['hot', 0],
      ['change', 8],
      ['change', 9],
    ] as const;
    const utxos = places.map(([branch, index], n) => ({
      outpoint: `${`${n}`.padStart(64, '0')}:1`,
      branch,
      index,
      amount: units(100_000n),
      address: address(branch, index),
    }));
    const recipients = [{ to: address('deposit', 1), amount: units(50_000n) }];
    const change = { index: 10, amount: units(349_000n) };
    const order = { is: 'spend', hot, utxos, recipients, change, fee: units(1_000n) } as const;
    const signed = await signOrder(
      'bitcoin',
      signer,
      readOrder('bitcoin', toWire({ ...order, utxos: [...utxos], recipients })),
    );
    expect(signed.bitcoin?.change).toEqual({ output: 1, address: hot });
    const form = { ...TEST_NETWORK, bech32: 'bcrt' };
    const read = Transaction.fromRaw(Buffer.from(signed.raw, 'hex'));
    for (const [i, utxo] of utxos.entries()) {
      const [signature, key] = read.getInput(i).finalScriptWitness ?? [];
      if (signature === undefined || key === undefined) throw new Error('the input has a witness');
      expect(Address(form).encode({ type: 'wpkh', hash: hash160(key) })).toBe(utxo.address);
      const script = OutScript.encode({ type: 'pkh', hash: hash160(key) });
      const digest = read.preimageWitnessV0(i, script, SigHash.ALL, utxo.amount);
      // By default s in the upper half is refused, as nodes do.
      const checked = { prehash: false, format: 'der' } as const;
      expect(secp256k1.verify(signature.subarray(0, -1), digest, key, checked)).toBe(true);
    }
  });
});
