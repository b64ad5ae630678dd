import { NETWORK, TEST_NETWORK } from '@scure/btc-signer';
import { z } from 'zod';
import { WrongNetwork } from '../chain.ts';
import { ask, type Rpc } from '../json-rpc.ts';
import { hash } from './rpc.ts';

export const bitcoinNetworks = ['mainnet', 'testnet', 'signet', 'regtest'] as const;
export type BitcoinNetwork = (typeof bitcoinNetworks)[number];

/** How a network writes addresses, as the signing library wants it. */
export type AddressForm = typeof NETWORK;

type NetworkFacts = {
  /** Hashes of block 0. Testnet has had several lives; money of none of them is worth anything. */
  genesis: readonly string[];
  form: AddressForm;
  /** Of BIP-44: what stands in m/84'/<coin>'/… */
  slip44: 0 | 1;
};

const facts = {
  mainnet: {
    genesis: ['000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'],
    form: NETWORK,
    slip44: 0,
  },
  testnet: {
    genesis: [
      '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
      '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
    ],
    form: TEST_NETWORK,
    slip44: 1,
  },
  signet: {
    genesis: ['00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6'],
    form: TEST_NETWORK,
    slip44: 1,
  },
  regtest: {
    genesis: ['0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206'],
    form: { ...TEST_NETWORK, bech32: 'bcrt' },
    slip44: 1,
  },
} as const satisfies Record<BitcoinNetwork, NetworkFacts>;

export const factsOf = (network: BitcoinNetwork): NetworkFacts => facts[network];

/** Bitcoin Core 28: the first whose refusals are JSON-RPC 2.0, and not an HTTP 500 that could come from anything. */
const VERSION_MIN = 280_000;

const networkInfo = z.object({ version: z.int() });

/** Throws WrongNetwork when the node or, unless the network alone is asked for, its release is not what was configured. */
export async function checkNetwork(rpc: Rpc, network: BitcoinNetwork, of?: 'network'): Promise<void> {
  const genesis = await ask(rpc, hash, 'getblockhash', [0]);
  if (!factsOf(network).genesis.includes(genesis)) {
    const found =
      bitcoinNetworks.find((known) => factsOf(known).genesis.includes(genesis)) ?? 'another network';
    throw new WrongNetwork(`the node is on ${found} (first block ${genesis}), configured is ${network}`);
  }
  if (of === 'network') return;
  const { version } = await ask(rpc, networkInfo, 'getnetworkinfo', []);
  if (version < VERSION_MIN) {
    throw new WrongNetwork(`the node is Bitcoin Core ${Math.floor(version / 10_000)}: 28 or later is needed`);
  }
}
