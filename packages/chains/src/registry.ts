import type { Chain, ChainKind } from '@quittance/shared/assets';
import { chainKinds } from '@quittance/shared/assets';
import { invariant } from '@quittance/shared/result';
import { createBitcoinReader } from './bitcoin/reader.ts';
import { type BitcoinSender, createBitcoinSender } from './bitcoin/sender.ts';
import { type BitcoinSigner, createBitcoinSigner } from './bitcoin/signer.ts';
import * as bitcoin from './bitcoin/wallet.ts';
import type {
  ChainReader,
  DepositAddresses,
  EvmSender,
  HotWallet,
  WalletTransfer,
  WantedPayment,
} from './chain.ts';
import { createEvmReader } from './evm/reader.ts';
import { createEvmSender } from './evm/sender.ts';
import { createEvmSigner, type EvmSigner } from './evm/signer.ts';
import { transferCall } from './evm/transfer.ts';
import * as evm from './evm/wallet.ts';
import type { HotKeyOf } from './hot-key.ts';
import { connectRpc, type Rpc } from './json-rpc.ts';
import type { PanelOptions } from './quorum.ts';
import { quorumReader } from './quorum-reader.ts';
import { bitcoinRules, evmRules, type QuorumRules, quorumSender, solanaRules } from './quorum-sender.ts';
import type { ChainSettings, SettingsOf, SolanaSettings } from './settings.ts';
import type { SolanaNetwork } from './solana/network.ts';
import { createSolanaReader } from './solana/reader.ts';
import { createSolanaSender, type SolanaSender } from './solana/sender.ts';
import { createSolanaSigner, type SolanaSigner } from './solana/signer.ts';
import * as solana from './solana/wallet.ts';

type Senders = { bitcoin: BitcoinSender; evm: EvmSender; solana: SolanaSender };
/** The sender of a kind of chain: what is asked of nodes is different on each. */
export type SenderOf<K extends ChainKind> = Senders[K];

type Signers = { bitcoin: BitcoinSigner; evm: EvmSigner; solana: SolanaSigner };
/** The signer of a kind of chain: it has the keys, and asks no node. */
export type SignerOf<K extends ChainKind> = Signers[K];

/** What a kind of chain has to bring: one that lacks something does not compile. */
type Driver<K extends ChainKind> = {
  reader(settings: SettingsOf<K>, rpc: Rpc): ChainReader;
  sender(settings: SettingsOf<K>, wallet: HotWallet, rpc: Rpc): SenderOf<K>;
  /** Opens the wallet; with a key for the hot wallet that is not the phrase's. */
  signer(settings: SettingsOf<K>, recoveryPhrase: string, hotKey?: HotKeyOf<K>): SignerOf<K>;
  rules: QuorumRules<SenderOf<K>>;
  checkAddress(settings: SettingsOf<K>, text: string): string | undefined;
  showAddress(canonical: string): string;
  paymentUri(settings: SettingsOf<K>, payment: WantedPayment): string;
  /** Undefined where wallets of browsers are not asked in this way. */
  walletTransfer: ((settings: SettingsOf<K>, payment: WantedPayment) => WalletTransfer) | undefined;
  /** Undefined where public keys derive from nothing but private ones. */
  depositAddresses: ((settings: SettingsOf<K>, xpub: string) => DepositAddresses) | undefined;
};

/** Every kind of chain there is: one that is missing does not compile. */
export type Drivers = { [K in ChainKind]: Driver<K> };

export const drivers: Drivers = {
  bitcoin: {
    reader: ({ network }, rpc) => createBitcoinReader({ network, rpc }),
    sender: ({ network }, wallet, rpc) => createBitcoinSender({ network, wallet, rpc }),
    signer: ({ network }, phrase, hotKey) =>
      createBitcoinSigner(network, bitcoin.openBitcoinWallet(network, phrase), hotKey),
    rules: bitcoinRules,
    checkAddress: ({ network }, text) => bitcoin.checkAddress(network, text),
    showAddress: (canonical) => canonical,
    paymentUri(_settings, { asset, address, amount }) {
      invariant(asset === 'BTC', `${asset} is not an asset of bitcoin`);
      return bitcoin.paymentUri(address, amount);
    },
    walletTransfer: undefined,
    depositAddresses: ({ network }, xpub) => bitcoin.depositAddresses(network, xpub),
  },
  evm: {
    reader: ({ chain, chainId, usdcAddress }, rpc) => createEvmReader({ chain, chainId, usdcAddress, rpc }),
    sender: ({ chain, chainId, usdcAddress }, wallet, rpc) =>
      createEvmSender({ chain, chainId, usdcAddress, wallet, rpc }),
    signer: ({ chain, chainId, usdcAddress }, phrase, hotKey) =>
      createEvmSigner({ chain, chainId, usdcAddress }, evm.openWallet(phrase), hotKey),
    rules: evmRules,
    checkAddress: (_settings, text) => evm.checkAddress(text),
    showAddress: evm.showAddress,
    paymentUri: (network, { asset, address, amount }) => evm.paymentUri(network, asset, address, amount),
    walletTransfer: (network, { asset, address, amount }) => ({
      chainId: network.chainId,
      ...transferCall(network, asset, address, amount),
    }),
    depositAddresses: (_settings, xpub) => evm.depositAddresses(xpub),
  },
  solana: {
    reader: (settings, rpc) => createSolanaReader({ network: solanaNetwork(settings), rpc }),
    sender: (settings, wallet, rpc) => createSolanaSender({ network: solanaNetwork(settings), wallet, rpc }),
    signer: (settings, phrase, hotKey) =>
      createSolanaSigner(solanaNetwork(settings), solana.openWallet(phrase), hotKey),
    rules: solanaRules,
    checkAddress: (settings, text) => solana.checkAddress(solanaNetwork(settings), text),
    showAddress: (canonical) => canonical,
    paymentUri: (settings, payment) => solana.paymentUri(solanaNetwork(settings), payment),
    walletTransfer: undefined,
    depositAddresses: undefined,
  },
};

const solanaNetwork = ({ network, usdcMint }: SolanaSettings): SolanaNetwork => ({ name: network, usdcMint });

// That a kind and its settings belong together is lost on the compiler where the kind is not known.
const driverOf = <K extends ChainKind>(settings: SettingsOf<K>): Driver<K> =>
  drivers[(settings as ChainSettings).kind] as unknown as Driver<K>;

/** The log names nodes that a quorum of the others goes on without. */
export type NodeOptions = Pick<PanelOptions, 'logger'>;

const nodesOf = ({ rpcUrls }: ChainSettings): Rpc[] => rpcUrls.map((url) => connectRpc(url.reveal()));

/** Reads a chain from its node, or from a quorum of its nodes. */
export function connectReader<K extends ChainKind>(
  settings: SettingsOf<K>,
  options?: NodeOptions,
): ChainReader {
  const { reader } = driverOf(settings);
  const readers = nodesOf(settings).map((rpc) => reader(settings, rpc));
  return quorumReader(readers, options);
}

/**
 * Signs for a chain with the keys of a recovery phrase, and with `hotKey` for the hot wallet when it is given. The error of a wrong
 * phrase does not repeat it.
 */
export const openSigner = <K extends ChainKind>(
  settings: SettingsOf<K>,
  recoveryPhrase: string,
  hotKey?: HotKeyOf<K>,
): SignerOf<K> => driverOf(settings).signer(settings, recoveryPhrase, hotKey);

/** Sends to a chain through its nodes, from this wallet. */
export function connectSender<K extends ChainKind>(
  settings: SettingsOf<K>,
  wallet: HotWallet,
  options?: NodeOptions,
): SenderOf<K> {
  const { sender, rules } = driverOf(settings);
  return quorumSender(
    nodesOf(settings).map((rpc) => sender(settings, wallet, rpc)),
    rules,
    options,
  );
}

/** The canonical form of an address somebody typed; undefined when it is none of this chain and this network. */
export const checkAddress = (settings: ChainSettings, text: string): string | undefined =>
  driverOf(settings).checkAddress(settings, text);

/** A canonical address as people see it. */
export const showAddress = (chain: Chain, canonical: string): string =>
  drivers[chainKinds[chain]].showAddress(canonical);

/** What a wallet opens to pay an invoice, all of it filled in. */
export const paymentUri = (settings: ChainSettings, payment: WantedPayment): string =>
  driverOf(settings).paymentUri(settings, payment);

/** What a wallet in the browser is asked to send; undefined on chains where that is not done. */
export const walletTransfer = (settings: ChainSettings, payment: WantedPayment): WalletTransfer | undefined =>
  driverOf(settings).walletTransfer?.(settings, payment);

/**
 * The deposit addresses below an extended public key. Undefined where there is no such thing: there the service with
 * the keys provides the addresses. Throws when the key is not one of this chain and network.
 */
export const depositAddresses = (settings: ChainSettings, xpub: string): DepositAddresses | undefined =>
  driverOf(settings).depositAddresses?.(settings, xpub);
