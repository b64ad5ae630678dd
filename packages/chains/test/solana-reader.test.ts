import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  AccountRole,
  type Address,
  getAddressEncoder,
  getProgramDerivedAddress,
  getU64Encoder,
} from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import type { ChainReader } from '../src/chain.ts';
import { createSolanaReader } from '../src/solana/reader.ts';
import { SYSTEM_PROGRAM } from '../src/solana/rpc.ts';
import { newAddress, type SolanaChain, solanaChain } from './solana-chain.ts';

const SOL = 10n ** 9n;
let chain: SolanaChain;
let reader: ChainReader;

beforeAll(async () => {
  chain = await solanaChain({ lamports: 100n * SOL, usdc: 1_000_000_000n });
  reader = createSolanaReader({ rpc: chain.rpc, network: chain.network });
});
afterAll(() => chain.stop());

const give = (destination: Address, amount: bigint) =>
  getTransferSolInstruction({ source: chain.payer, destination, amount });

const TABLES = 'AddressLookupTab1e1111111111111111111111111' as Address;

/** A table of addresses in the chain, ready for use. */
async function lookupTable(addresses: Address[]): Promise<Address> {
  // A table is made of a slot that the node remembers: those from before its start are none.
  const slot = BigInt(await chain.finalized(await chain.pay('SOL', newAddress(), SOL)));
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

test('a payment to an address that the transaction names by its place in a lookup table is read', async () => {
  const address = newAddress();
  const table = await lookupTable([address]);
  const signature = await chain.send([give(address, SOL)], { [table]: [address] });
  const block = await reader.block(await chain.finalized(signature));
  expect(block?.payments.filter((payment) => payment.address === address)).toMatchObject([
    { asset: 'SOL', amount: SOL },
  ]);
  const config = { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' };
  const found = (await chain.rpc.call('getTransaction', [signature, config])) as {
    transaction: { message: { accountKeys: string[] } };
  };
  expect(found.transaction.message.accountKeys).not.toContain(address);
});

test('the chain ends at the head: what is only confirmed has no block yet', async () => {
  const { height } = await reader.head();
  const beyond = height + 20;
  expect(await reader.block(beyond)).toBeUndefined();
  expect(await reader.hashAt(beyond)).toBeUndefined();
  expect(await reader.blocksAfter(beyond, 5)).toEqual([]);
  expect((await reader.blocksAfter(height - 1, 100)).length).toBeLessThan(30);
});
