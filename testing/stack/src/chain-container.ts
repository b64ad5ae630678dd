import { createHash } from 'node:crypto';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet as openEvmWallet } from '@quittance/chains/evm/wallet';
import { BITCOIN_NETWORK } from './bitcoin.ts';
import { CHAIN_ID } from './ethereum.ts';
import type { ChainSettings } from './service-settings.ts';
import { testUsdcAddress } from './test-usdc.ts';

/** Where the image quittance/sandbox answers for its nodes, which themselves listen to their own machine only. */
export const ETHEREUM_PORT = 8_545;
export const BITCOIN_PORT = 18_443;

/** The user is that of testing/engines. */
const BITCOIN_USER = 'quittance';

/** From the words, so that whoever has those can reach the node: its coins are worth nothing. */
export const bitcoinPassword = (seed: string): string =>
  createHash('sha256').update(`Quittance sandbox ${seed}`).digest('hex').slice(0, 32);

export const bitcoinUrl = (seed: string, host: string, port: number): string =>
  `http://${BITCOIN_USER}:${bitcoinPassword(seed)}@${host}:${port}`;

/** What services are told of the nodes in a container that they know as `host`; Ethereum's is always there. */
export function chainContainerSettings(
  seed: string,
  host: string,
  { bitcoin = true }: { bitcoin?: boolean } = {},
): ChainSettings {
  const ethereum = {
    ETHEREUM_RPC_URL: `http://${host}:${ETHEREUM_PORT}`,
    ETHEREUM_CHAIN_ID: String(CHAIN_ID),
    ETHEREUM_USDC_ADDRESS: testUsdcAddress(),
  };
  const evm = openEvmWallet(seed);
  const addresses = { ETHEREUM_XPUB: evm.accountXpub };
  const hotWallets = { ETHEREUM_HOT_ADDRESS: evm.hotAddress };
  if (!bitcoin) return { node: ethereum, addresses, hotWallets, assets: ['ETH', 'USDC_ERC20'] };
  const { accountXpub, hotAddress } = openBitcoinWallet(BITCOIN_NETWORK, seed);
  return {
    node: { BITCOIN_RPC_URL: bitcoinUrl(seed, host, BITCOIN_PORT), BITCOIN_NETWORK, ...ethereum },
    addresses: { BITCOIN_XPUB: accountXpub, ...addresses },
    hotWallets: { BITCOIN_HOT_ADDRESS: hotAddress, ...hotWallets },
    assets: ['BTC', 'ETH', 'USDC_ERC20'],
  };
}
