import { explorerUrl } from '@quittance/chains/explorer';
import { networkCheck } from '@quittance/chains/network-check';
import {
  checkAddress,
  connectReader,
  depositAddresses,
  paymentUri,
  walletTransfer,
} from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets } from '@quittance/chains/settings';
import type { Chain, ChainKind } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import { createAddressFilter } from './address-filter.ts';
import { derivedAddressPool, storedAddressPool } from './address-pool.ts';
import type { OutageLimits } from './domain/expiry-extension.ts';
import { trackingHead } from './metrics.ts';
import { unconfirmedKeys } from './operations/compare-keys.ts';
import type { WatchedChain } from './ports.ts';
import { nextAddressBlock } from './store/addresses.ts';

const MINUTE_MS = 60_000;
/**
 * When a chain is not synced for longer, the expiry of its invoices is extended. It is not shorter because a large
 * block takes seconds to read, and another replica takes seconds to take over.
 */
const OUTAGE_MS = 10_000;
/**
 * `staleMs`: when the newest block is older, the node lags, no invoice expires and no balance is checked. A node that is
 * always a minute or two behind still works. `gapMs`: when two blocks are further apart, the node kept blocks back.
 * `lateMs`: a block that arrives this long after its own time is late. Bitcoin's block times are random, about one block in
 * three years takes two hours, and its miners sometimes set times some minutes ahead.
 */
const LIMITS = {
  bitcoin: { staleMs: 120 * MINUTE_MS, gapMs: 120 * MINUTE_MS, lateMs: 10 * MINUTE_MS },
  evm: { staleMs: 3 * MINUTE_MS, gapMs: MINUTE_MS, lateMs: MINUTE_MS },
  solana: { staleMs: 2 * MINUTE_MS, gapMs: MINUTE_MS, lateMs: MINUTE_MS },
} as const satisfies Record<ChainKind, object>;
/** A development chain makes no block until somebody asks for one. */
const NO_LIMITS = { staleMs: undefined, gapMs: undefined, lateMs: undefined };
/** After a restart, a node may not list a payment until its peers send it again. */
const DROPPED_AFTER_MS = 30_000;

export type WatchingOptions = { db: Db; logger: Logger; ahead: number; scanEveryMs: number };

/** The configured chains, each with its node and its addresses. */
export function watchChains(
  configured: readonly ChainSettings[],
  options: WatchingOptions,
): Map<Chain, WatchedChain> {
  return new Map(configured.map((settings) => [settings.chain, watchChain(settings, options)]));
}

function watchChain(settings: ChainSettings, options: WatchingOptions): WatchedChain {
  const { chain, kind, quietMs, startHeight } = settings;
  const { reader, headHeight } = trackingHead(connectReader(settings, { logger: options.logger }));
  return {
    chain,
    assets: new Set(configuredAssets(settings)),
    reader,
    headHeight,
    network: networkCheck(reader),
    ...addressesOf(settings, options),
    filter: createAddressFilter(chain),
    startHeight,
    quietMs,
    ...outageLimits(kind, quietMs, options.scanEveryMs),
    // The node of a development chain has no peers that could send a dropped payment again.
    droppedAfterMs: quietMs === undefined ? DROPPED_AFTER_MS : 0,
    uri: (payment) => paymentUri(settings, payment),
    walletTransfer: (payment) => walletTransfer(settings, payment),
    explorerUrl: (txHash) => explorerUrl(settings, txHash),
  };
}

/** The limits after which a chain counts as not synced. */
export const outageLimits = (
  kind: ChainKind,
  quietMs: number | undefined,
  scanEveryMs: number,
): Required<OutageLimits & Pick<WatchedChain, 'staleMs'>> => ({
  outageMs: Math.max(OUTAGE_MS, 3 * scanEveryMs),
  ...(quietMs === undefined ? LIMITS[kind] : NO_LIMITS),
});

function addressesOf(
  settings: ChainSettings,
  { db, logger, ahead }: WatchingOptions,
): Pick<WatchedChain, 'addresses' | 'storedPool' | 'keys'> {
  if (settings.kind === 'solana') {
    const isAddress = (text: string) => checkAddress(settings, text) === text;
    return { addresses: storedAddressPool(db, settings.chain), storedPool: { ahead, isAddress } };
  }
  const { kind, xpub } = settings;
  const derived = xpub === undefined ? undefined : depositAddresses(settings, xpub);
  invariant(derived !== undefined, `the configuration of ${settings.chain} has a public key`);
  const nextBlock = () => nextAddressBlock(db, kind);
  return {
    addresses: derivedAddressPool({ addressAt: derived.at, nextBlock, ahead, logger }),
    keys: unconfirmedKeys(settings.chain, derived.at(0)),
  };
}
