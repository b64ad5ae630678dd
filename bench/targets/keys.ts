import { depositAddresses as bitcoinAddresses, openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { createEvmSigner } from '@quittance/chains/evm/signer';
import { openWallet } from '@quittance/chains/evm/wallet';
import { units } from '@quittance/shared/money';
import { HDKey } from '@scure/bip32';
import { p2wpkh, TEST_NETWORK } from '@scure/btc-signer';
import { mnemonicToAccount } from 'viem/accounts';
import type { Benchmark, Sample } from '../benchmark.ts';

/** A phrase that everybody knows. */
const PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const SECONDS = 1;
const REGTEST = { ...TEST_NETWORK, bech32: 'bcrt' };
const CHAIN_ID = 31_337;
const FEES = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const RECIPIENT = `0x${'ab'.repeat(20)}` as const;

export const deriveAddresses: Benchmark = {
  name: 'derive',
  what: "Addresses of deposits derived from an account's public key (Bitcoin), one after the other.",
  yardstick: "the libraries' own loop: deriveChild of @scure/bip32, p2wpkh of @scure/btc-signer",
  target: { atLeast: 0.9 },
  unit: 'addresses per CPU s',
  async setUp() {
    const { accountXpub } = openBitcoinWallet('regtest', PHRASE);
    const ours = bitcoinAddresses('regtest', accountXpub);
    const versions = { public: 0x043587cf, private: 0x04358394 };
    const external = HDKey.fromExtendedKey(accountXpub, versions).deriveChild(0);
    const theirs = (index: number) => {
      const { publicKey } = external.deriveChild(index);
      return p2wpkh(publicKey as Uint8Array, REGTEST).address;
    };
    if (ours.at(7) !== theirs(7)) throw new Error('both loops derive the same addresses');
    return {
      ours: () => loop((i) => ours.at(i)),
      theirs: () => loop(theirs),
      close: async () => undefined,
    };
  },
};

export const signTransfers: Benchmark = {
  name: 'sign',
  what: 'Transfers of Ether signed from complete orders, as the signer does it, one after the other.',
  yardstick: "the library's own loop: signTransaction of viem with the same key and transaction",
  target: { atLeast: 0.9 },
  unit: 'signatures per CPU s',
  async setUp() {
    const signer = createEvmSigner(
      { chain: 'ethereum', chainId: CHAIN_ID, usdcAddress: undefined } as never,
      openWallet(PHRASE),
    );
    const account = mnemonicToAccount(PHRASE, { path: "m/44'/60'/1'/0/0" });
    const ours = async (nonce: number) => {
      const order = {
        asset: 'ETH',
        to: RECIPIENT,
        amount: units(1n),
        nonce,
        gas: 21_000n,
        fees: FEES,
      } as const;
      return (await signer.signTransfer(order)).raw;
    };
    const theirs = (nonce: number) =>
      account.signTransaction({
        ...{ type: 'eip1559', chainId: CHAIN_ID, nonce, gas: 21_000n },
        ...{ to: RECIPIENT, value: 1n, ...FEES },
      });
    if ((await ours(7)) !== (await theirs(7))) throw new Error('both sign the same bytes');
    return {
      ours: () => loop(ours),
      theirs: () => loop(theirs),
      close: async () => undefined,
    };
  },
};

/** The figure is of a second of CPU: others that use the same cores make no difference to it. */
async function loop(once: (index: number) => unknown): Promise<Sample> {
  const begun = process.cpuUsage();
  let index = 0;
  let microseconds = 0;
  for (; microseconds < SECONDS * 1e6; index++) {
    await once(index);
    const { user, system } = process.cpuUsage(begun);
    microseconds = user + system;
  }
  return { figure: (index * 1e6) / microseconds, operations: index };
}
