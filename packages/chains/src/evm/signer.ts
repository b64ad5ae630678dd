import { invariant } from '@quittance/shared/result';
import type { Hex } from 'viem';
import { hexToBytes, keccak256, numberToHex, serializeTransaction } from 'viem/utils';
import type {
  EvmFees,
  NativeSweepOrder,
  SignedTransaction,
  TokenSweepOrder,
  TransferOrder,
  WalletAddresses,
} from '../chain.ts';
import type { Secp256k1Key } from '../hot-key.ts';
import { receiveCall } from './authorization.ts';
import { maxCostOf, nativeSweepValue, PLAIN_TRANSFER_GAS, type TransactionCall } from './cost.ts';
import { contractOf, type EvmNetwork } from './network.ts';
import { hash } from './rpc.ts';
import { transferCall } from './transfer.ts';
import { addressOf, keyOf, type Wallet } from './wallet.ts';

/**
 * Signs complete orders with the wallet's keys. Asks no node. The same order gives the same bytes as long as the hot key gives the
 * same signatures.
 */
export type EvmSigner = {
  addresses: WalletAddresses;
  signTransfer(order: TransferOrder): Promise<SignedTransaction>;
  /** `not_worth_it` when the balance does not exceed the fee. */
  signNativeSweep(order: NativeSweepOrder): Promise<SignedTransaction | 'not_worth_it'>;
  signTokenSweep(order: TokenSweepOrder): Promise<SignedTransaction>;
};

type Unsigned = TransactionCall & { nonce: number; gas: bigint; fees: EvmFees };

const word = (value: bigint): Hex => numberToHex(value, { size: 32 });

/** @param hotKey the key of the hot wallet, where it is not that of the wallet's phrase */
export function createEvmSigner(
  network: EvmNetwork,
  wallet: Wallet,
  hotKey: Secp256k1Key = keyOf(wallet.hotSigner),
): EvmSigner {
  const { chainId } = network;
  const { depositAddress } = wallet;
  const hotAddress = addressOf(hotKey.publicKey);

  async function sign(key: Secp256k1Key, unsigned: Unsigned): Promise<SignedTransaction> {
    const { to, value, data, nonce, gas, fees } = unsigned;
    invariant(Number.isSafeInteger(nonce) && nonce >= 0, 'a nonce counts transactions');
    // The order of the fields follows from the order alone.
    const transaction = { type: 'eip1559', chainId, nonce, gas, to, value, data, ...fees } as const;
    const { r, s, yParity } = await key.sign(hexToBytes(keccak256(serializeTransaction(transaction))));
    const raw = serializeTransaction(transaction, { r: word(r), s: word(s), yParity });
    return { raw, txHash: keccak256(raw), maxCost: maxCostOf(network.chain, gas, fees) };
  }

  return {
    addresses: { hotAddress, depositAddress },

    async signTransfer({ asset, to, amount, nonce, gas, fees }) {
      invariant(amount > 0n, 'a transfer moves something');
      return sign(hotKey, { ...transferCall(network, asset, to, amount), nonce, gas, fees });
    },

    async signNativeSweep({ index, balance: held, nonce, fees }) {
      const gas = PLAIN_TRANSFER_GAS;
      const value = nativeSweepValue(network.chain, held, fees);
      if (value === undefined) return 'not_worth_it';
      return sign(keyOf(wallet.depositSigner(index)), {
        to: hotAddress as Hex,
        value,
        data: '0x',
        nonce,
        gas,
        fees,
      });
    },

    async signTokenSweep({ asset, index, amount, nonce, authorizationNonce, domain, gas, fees }) {
      const contract = contractOf(network, asset);
      invariant(contract !== undefined && amount > 0n, 'a token sweep moves tokens');
      // What the nodes tell must not make it authorize another token, or this one on another chain.
      invariant(
        domain.verifyingContract === contract && domain.chainId === chainId,
        'an authorization is for the configured token',
      );
      const data = await receiveCall(wallet.depositSigner(index), domain, {
        to: hotAddress,
        amount,
        nonce: hash.parse(authorizationNonce) as Hex,
      });
      return sign(hotKey, { to: contract as Hex, value: 0n, data, nonce, gas, fees });
    },
  };
}
