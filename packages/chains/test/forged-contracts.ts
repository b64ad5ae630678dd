import { mintTestUsdc } from '@quittance/stack/test-usdc';
import { concat, encodeFunctionData, type Hex, pad, toHex } from 'viem';
import { abi, type DevelopmentChain, newAddress } from './development-chain.ts';

/** The topic of a token's Transfer event. */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Puts code at an address by itself, without a constructor. */
export async function deployCode(chain: DevelopmentChain, bytecode: Hex): Promise<Hex> {
  const address = newAddress();
  await chain.client.setCode({ address, bytecode });
  return address;
}

/** The test token's code once more, at an address that is not on the list. */
export async function otherToken(chain: DevelopmentChain): Promise<Hex> {
  const code = await chain.client.getCode({ address: chain.usdc });
  const other = await deployCode(chain, code ?? '0x');
  await mintTestUsdc(chain.node.rpcUrl, other, chain.payer, 1_000n);
  return other;
}

/** Makes the contract at `forger` log these topics and this data, whatever they are. */
export async function forge(chain: DevelopmentChain, forger: Hex, topics: Hex[], data: Hex): Promise<Hex> {
  const count = toHex(topics.length * 32, { size: 1 });
  const topicsToStack = topics.map((_, i) => concat(['0x60', toHex(i * 32, { size: 1 }), '0x35'])).reverse();
  const log = toHex(0xa0 + topics.length, { size: 1 });
  // It is called with the topics and the data: the data goes to memory, the topics onto the stack, then LOGn.
  const code = concat([
    ...(['0x60', count, '0x360360', count, '0x5f37'] as const),
    ...topicsToStack,
    ...(['0x60', count, '0x36035f', log, '0x00'] as const),
  ]);
  await chain.client.setCode({ address: forger, bytecode: code });
  return await chain.send({ to: forger, data: concat([...topics, data]) });
}

/** A contract that, when called, transfers 1 of its tokens to `first` and 2 to `second`. */
export function transferTwice(usdc: Hex, first: Hex, second: Hex): Hex {
  const call = (recipient: Hex, amount: bigint) => {
    const data = encodeFunctionData({ abi, functionName: 'transfer', args: [recipient, amount] });
    // The 68 bytes of the call into memory, in three words from the front.
    const padded = pad(data, { dir: 'right', size: 96 }).slice(2);
    const words = [0, 1, 2].map((i) =>
      concat(['0x7f', `0x${padded.slice(i * 64, i * 64 + 64)}`, '0x60', toHex(i * 32, { size: 1 }), '0x52']),
    );
    return concat([...words, '0x5f5f60445f5f73', usdc, '0x5af150']);
  };
  return concat([call(first, 1n), call(second, 2n), '0x00']);
}
