import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { encodeFunctionData, keccak256, parseAbi } from 'viem/utils';
import { type EvmFees, type EvmSender, type SignedTransaction, within } from '../chain.ts';
import { ask, type Rpc } from '../json-rpc.ts';
import { readTokenDomain, receiveCall, type TokenDomain } from './authorization.ts';
import { broadcast, findByNonce, status } from './broadcast.ts';
import { estimate, feeLimits, feesFor, gasPrice, PLAIN_TRANSFER_GAS, type TransactionCall } from './cost.ts';
import { checkNetwork, contractOf, type EvmNetwork, tokensOf } from './network.ts';
import { count, hash, header, units256 } from './rpc.ts';
import { checkAddress, type Wallet } from './wallet.ts';

/** For the order of a token sweep: 61k with the test token, under 100k with USD Coin behind its proxy. */
export const TOKEN_SWEEP_GAS = 150_000n;

/** A transfer of USD Coin to an address that had none. More is rare. */
const TYPICAL_TOKEN_GAS = 65_000n;

const abi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function transfer(address to, uint256 amount) returns (bool)',
]);

export type EvmSenderParts = EvmNetwork & { rpc: Rpc; wallet: Wallet };

/**
 * Signs with the wallet's keys, and sends through a node of Ethereum or of any chain like it. Closes the connection
 * it was given.
 */
export function createEvmSender({ rpc, wallet, ...network }: EvmSenderParts): EvmSender {
  const { chainId } = network;
  const { hotAddress } = wallet;
  const domains = new Map<string, TokenDomain>();

  async function domainOf(contract: string): Promise<TokenDomain> {
    const domain = domains.get(contract) ?? (await readTokenDomain(rpc, chainId, contract));
    domains.set(contract, domain);
    return domain;
  }

  async function balance(asset: AssetSymbol, owner: string): Promise<Units> {
    const contract = contractOf(network, asset);
    if (contract === undefined) {
      return (await ask(rpc, units256, 'eth_getBalance', [owner, 'latest'])) as Units;
    }
    const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [owner as Hex] });
    return (await ask(rpc, units256, 'eth_call', [{ to: contract, data }, 'latest'])) as Units;
  }

  async function sign(signer: PrivateKeyAccount, unsigned: Unsigned): Promise<SignedTransaction> {
    const { to, value, data, nonce, gas, fees } = unsigned;
    invariant(Number.isSafeInteger(nonce) && nonce >= 0, 'a nonce counts transactions');
    // The order of the fields, and the nonce of the signature (RFC 6979), follow from the order alone.
    const raw = await signer.signTransaction({
      type: 'eip1559',
      chainId,
      nonce,
      gas,
      to,
      value,
      data,
      ...fees,
    });
    return { raw, txHash: keccak256(raw), maxCost: maxCost(gas, fees) };
  }

  const maxCost = (gas: bigint, fees: EvmFees) =>
    (gas * fees.maxFeePerGas + feeLimits[network.chain].l1DataFeeMax) as Units;

  return {
    chain: network.chain,
    hotAddress,
    depositAddress: wallet.depositAddress,
    balance,

    async check() {
      await checkNetwork(rpc, network);
      for (const contract of tokensOf(network).keys()) await domainOf(contract);
    },

    async fees() {
      const { baseFeePerGas, tip } = await gasPrice(rpc);
      return feesFor(network.chain, baseFeePerGas, tip);
    },

    async estimatedFee(asset) {
      const gas = contractOf(network, asset) === undefined ? PLAIN_TRANSFER_GAS : TYPICAL_TOKEN_GAS;
      const { baseFeePerGas, tip } = await gasPrice(rpc);
      const { maxFeePerGas, maxPriorityFeePerGas } = feesFor(network.chain, baseFeePerGas, tip);
      const price = baseFeePerGas + maxPriorityFeePerGas;
      return (gas * within(0n, price, maxFeePerGas)) as Units;
    },

    async estimateTransfer(asset, to, amount) {
      const call = transferCall(network, asset, to, amount);
      const gas = await estimate(rpc, hotAddress, call);
      if (gas !== 'reverts') return gas;
      // A transfer of more than there is reverts as well, and says nothing about the recipient.
      if ((await balance(asset, hotAddress)) < amount) {
        throw new Error(`the hot wallet has less ${asset} than it is to send`);
      }
      // Once more: what was missing may have come between the two questions.
      return estimate(rpc, hotAddress, call);
    },

    async signTransfer({ asset, to, amount, nonce, gas, fees }) {
      invariant(amount > 0n, 'a transfer moves something');
      return sign(wallet.hotSigner, { ...transferCall(network, asset, to, amount), nonce, gas, fees });
    },

    async signNativeSweep({ index, balance: held, nonce, fees }) {
      const gas = PLAIN_TRANSFER_GAS;
      const cost = maxCost(gas, fees);
      const value = held - cost;
      if (value <= cost) return 'not_worth_it';
      return sign(wallet.depositSigner(index), {
        to: hotAddress as Hex,
        value,
        data: '0x',
        nonce,
        gas,
        fees,
      });
    },

    async signTokenSweep({ asset, index, amount, nonce, authorizationNonce, gas, fees }) {
      const contract = contractOf(network, asset);
      invariant(contract !== undefined && amount > 0n, 'a token sweep moves tokens');
      const data = await receiveCall(wallet.depositSigner(index), await domainOf(contract), {
        to: hotAddress,
        amount,
        nonce: hash.parse(authorizationNonce) as Hex,
      });
      return sign(wallet.hotSigner, { to: contract as Hex, value: 0n, data, nonce, gas, fees });
    },

    broadcast: (raw) => broadcast(rpc, raw),

    status: (txHash) => status(rpc, txHash),

    nonce: (owner, at) => ask(rpc, count, 'eth_getTransactionCount', [owner, at]),

    async finalizedHeight() {
      return (await ask(rpc, header, 'eth_getBlockByNumber', ['finalized', false])).number;
    },

    findByNonce: (owner, nonce, from, to) => findByNonce(rpc, owner, nonce, from, to),

    close: () => rpc.close(),
  };
}

type Unsigned = TransactionCall & { nonce: number; gas: bigint; fees: EvmFees };

function transferCall(network: EvmNetwork, asset: AssetSymbol, to: string, amount: bigint): TransactionCall {
  const recipient = checkAddress(to) as Hex | undefined;
  if (recipient === undefined) throw new Error(`${to} is no address`);
  const contract = contractOf(network, asset);
  if (contract === undefined) return { to: recipient, value: amount, data: '0x' };
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [recipient, amount] });
  return { to: contract as Hex, value: 0n, data };
}
