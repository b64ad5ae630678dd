import type { Chain } from '@quittance/shared/assets';
import type { Stack } from '@quittance/stack/stack';
import { bitcoinCustomer } from '@quittance/testkit/bitcoin-customer';
import type { Customer } from '@quittance/testkit/customer';
import { ethereumCustomer } from '@quittance/testkit/ethereum-customer';
import { solanaCustomer } from '@quittance/testkit/solana-customer';

export type Customers = Partial<Record<Chain, Customer>>;

/** A customer on each chain that this machine has a node for. */
export function customersOf({ nodes, engines: { bitcoin } }: Stack): Customers {
  const { ethereum, solana } = nodes;
  return {
    ethereum: ethereumCustomer(ethereum.rpc, ethereum.tokens.USDC_ERC20),
    ...(bitcoin === undefined ? {} : { bitcoin: bitcoinCustomer(bitcoin) }),
    ...(solana === undefined ? {} : { solana: solanaCustomer(solana) }),
  };
}
