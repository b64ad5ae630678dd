import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  AccountRole,
  type Address,
  getAddressEncoder,
  getProgramDerivedAddress,
  getU64Encoder,
  type Instruction,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import type { Block, ChainReader, Payment } from '../src/chain.ts';
import { createSolanaReader } from '../src/solana/reader.ts';
import { SYSTEM_PROGRAM } from '../src/solana/rpc.ts';
import { newAddress, type SolanaChain, solanaChain } from './solana-chain.ts';

const SOL = 10n ** 9n;
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address;
let chain: SolanaChain;
let reader: ChainReader;

beforeAll(async () => {
  chain = await solanaChain({ lamports: 100n * SOL, usdc: 1_000_000_000n });
  reader = createSolanaReader({ rpc: chain.rpc, network: chain.network });
});
afterAll(() => chain.stop());

const give = (destination: Address, amount: bigint) =>
  getTransferSolInstruction({ source: chain.payer, destination, amount });

const memo = (text: string): Instruction => ({ programAddress: MEMO, data: Buffer.from(text) });

const TABLES = 'AddressLookupTab1e1111111111111111111111111' as Address;

/** A table of addresses in the chain, ready for use. */
async function lookupTable(addresses: Address[]): Promise<Address> {
  const slot = BigInt((await reader.head()).height);
  const [table, bump] = await getProgramDerivedAddress({
    programAddress: TABLES,
    seeds: [getAddressEncoder().encode(chain.payer.address), getU64Encoder().encode(slot)],
  });
  const accounts = [
    { address: table, role: AccountRole.WRITABLE },
    { address: chain.payer.address, role: AccountRole.READONLY_SIGNER, signer: chain.payer },
    { address: chain.payer.address, role: AccountRole.WRITABLE_SIGNER, signer: chain.payer },
    { address: SYSTEM_PROGRAM as Address, role: AccountRole.READONLY },
  ];
  const create = Buffer.alloc(4 + 8 + 1);
  create.writeBigUInt64LE(slot, 4);
  create.writeUInt8(bump, 12);
  const extend = Buffer.alloc(4 + 8);
  extend.writeUInt32LE(2);
  extend.writeBigUInt64LE(BigInt(addresses.length), 4);
  const entries = addresses.map((address) => Buffer.from(getAddressEncoder().encode(address)));
  const signature = await chain.send([
    { programAddress: TABLES, accounts, data: create },
    { programAddress: TABLES, accounts, data: Buffer.concat([extend, ...entries]) },
  ]);
  await chain.finalized(signature);
  return table;
}

async function blockOf(signature: string): Promise<Block> {
  const block = await reader.block(await chain.finalized(signature));
  if (block === undefined) throw new Error('its block is not there');
  return block;
}

const to = ({ payments }: Pick<Block, 'payments'>, ...addresses: string[]) =>
  payments.filter(({ address }) => addresses.includes(address));

const plain = ({ asset, address, amount }: Payment) => ({ asset, address, amount });

describe('a payment', () => {
  test('of SOL, of several transfers and a memo, is what each recipient gained', async () => {
    const [first, second] = [newAddress(), newAddress()];
    const signature = await chain.send([
      memo('an order'),
      give(first, SOL),
      give(second, 2n * SOL),
      give(first, 5n),
    ]);
    const block = await blockOf(signature);
    // The order is that of the transaction's accounts, which depends on the addresses.
    expect(to(block, first).map(plain)).toEqual([{ asset: 'SOL', address: first, amount: SOL + 5n }]);
    expect(to(block, second).map(plain)).toEqual([{ asset: 'SOL', address: second, amount: 2n * SOL }]);
    for (const { outpoint, outputIndex, txHash } of to(block, first)) {
      expect(outpoint).toBe(`${txHash}:${outputIndex}`);
      expect(txHash).toBe(signature);
    }
  });

  test('of tokens is the owner’s, also when its account was opened for it', async () => {
    const owner = newAddress();
    for (const amount of [7n, 8n]) {
      const block = await blockOf(await chain.pay('USDC_SOL', owner, amount));
      expect(to(block, owner).map(plain)).toEqual([{ asset: 'USDC_SOL', address: owner, amount }]);
    }
  });

  test('to an address that the transaction names by its place in a lookup table', async () => {
    const address = newAddress();
    const table = await lookupTable([address]);
    const signature = await chain.send([give(address, SOL)], { [table]: [address] });
    const block = await blockOf(signature);
    expect(to(block, address).map(plain)).toEqual([{ asset: 'SOL', address, amount: SOL }]);
    const config = { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' };
    const found = (await chain.rpc.call('getTransaction', [signature, config])) as {
      transaction: { message: { accountKeys: string[] } };
    };
    expect(found.transaction.message.accountKeys).not.toContain(address);
  });
});

test('the chain ends at the head: what is only confirmed has no block yet', async () => {
  const { height } = await reader.head();
  const beyond = height + 20;
  expect(await reader.block(beyond)).toBeUndefined();
  expect(await reader.hashAt(beyond)).toBeUndefined();
  expect(await reader.blocksAfter(beyond, 5)).toEqual([]);
  expect((await reader.blocksAfter(height - 1, 100)).length).toBeLessThan(30);
});
